#!/usr/bin/env bash
# Checks tally. Each check runs it once and compares all that it prints, with
# the lines joined by commas.
cd "$(dirname "$0")" || exit 2
checks=0 failed=0

# check NAME EXPECTED ARGUMENT... gives standard input on to tally.
check() {
  local name=$1 expected=$2 got
  shift 2
  got=$(./tally "$@" 2>&1)
  got=${got//$'\n'/, }
  checks=$((checks + 1))
  if [[ $got == "$expected" ]]; then
    echo "ok    $name"
    return
  fi
  failed=$((failed + 1))
  echo "FAIL  $name"
  echo "      command:  tally $*"
  echo "      expected: $expected"
  echo "      got:      $got"
}

check "adds up the amounts of a name" "12 plums, 10 pears, 7 apples, 2 cherries" fruit.txt
check "reads standard input without a file" "2 kiwis" <<<"kiwis 2"
check "passes over comments and empty lines" "1 figs" <<<$'# a comment\n\nfigs 1'
check "--min keeps an amount that is as large as the limit" "12 plums, 10 pears" --min 5 fruit.txt
check "--top shows only the largest" "12 plums, 10 pears" --top 2 fruit.txt
check "--mean divides by the number of lines" "12 plums, 5 pears, 3 apples, 2 cherries" --mean fruit.txt
check "--total adds a last line" "12 plums, 10 pears, 7 apples, 2 cherries, 31 total" --total fruit.txt
check "--width aligns the numbers" "  12 plums,   10 pears,    7 apples,    2 cherries" --width 4 fruit.txt
check "sorts equal totals by name" "4 dates, 4 figs" <<<$'figs 4\ndates 4'
check "adds up several files" "24 plums, 20 pears, 14 apples, 4 cherries" fruit.txt fruit.txt
check "takes an amount below zero" "-2 debts" --min -9 <<<"debts -2"
check "names the line of a bad amount" "tally: line 2: 'many' is no amount" <<<$'figs 1\nplums many'
check "says which file it cannot read" "tally: cannot read none.txt" none.txt
check "knows its options" "tally: unknown option --mni" --mni 5

echo "$checks checks, $failed failed"
((failed == 0))
