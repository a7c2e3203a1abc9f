package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/plain"
	"scorel/protocol"
)

func (a *app) modelsCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{Use: "models [WORDS]", Short: "List the models that --model can name", Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.with(cmd.Context(), func(l *link) error {
				list, err := client.Call[*protocol.ModelList](cmd.Context(), l.Client, "", &protocol.ListModels{Query: strings.Join(words, " ")})
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(list)
				}
				var rows [][]string
				left := 0
				for _, m := range list.Models {
					if !m.HasKey && !all && len(words) == 0 {
						left++
						continue
					}
					key := ""
					if !m.HasKey {
						key = "no key"
					}
					rows = append(rows, []string{m.Ref, fmt.Sprintf("%dk", m.ContextWindow/1000), key})
				}
				if err := plain.Table(a.stdout, rows); err != nil {
					return err
				}
				if left > 0 {
					fmt.Fprintf(a.stderr, "%d more have no key here; search them with words, or use --all.\n", left)
				}
				return nil
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&all, "all", false, "also those that have no key")
	return cmd
}
