package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
)

// number returns the value of an expression of constants that is a whole number.
func (s *source) number(e ast.Expr) (int, bool) {
	v := s.value(e)
	if v == nil {
		return 0, false
	}
	n, ok := constant.Int64Val(constant.ToInt(v))
	return int(n), ok
}

// value returns the value of an expression of constants, nil for what is none.
func (s *source) value(e ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.Ident:
		return s.value(s.values[e.Name])
	case *ast.ParenExpr:
		return s.value(e.X)
	case *ast.BinaryExpr:
		x, y := s.value(e.X), s.value(e.Y)
		if x == nil || y == nil {
			return nil
		}
		switch e.Op {
		case token.SHL:
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(n))
		case token.QUO:
			return constant.BinaryOp(x, token.QUO_ASSIGN, y) // of whole numbers
		case token.ADD, token.SUB, token.MUL:
			return constant.BinaryOp(x, e.Op, y)
		}
	}
	return nil
}

// texts returns the values of all exported constants that are texts.
func (s *source) texts() map[string]string {
	all := map[string]string{}
	for name, e := range s.values {
		if v := s.value(e); v != nil && v.Kind() == constant.String && ast.IsExported(name) {
			all[name] = constant.StringVal(v)
		}
	}
	return all
}

// sizes returns the values of all constants that are whole numbers.
func (s *source) sizes() map[string]int {
	all := map[string]int{}
	for name, e := range s.values {
		if v := s.value(e); v != nil && v.Kind() == constant.Int {
			all[name], _ = s.number(e)
		}
	}
	return all
}

// pattern returns the form of a type of id as its Check says it: return checkID(string(id),
// prefix, length). It is "" for all others.
func (s *source) pattern(typ string) string {
	call, ok := s.ids[typ].(*ast.CallExpr)
	if !ok || ident(call.Fun) != "checkID" || len(call.Args) != 3 {
		return ""
	}
	prefix, ok := literal(call.Args[1])
	length, known := s.number(call.Args[2])
	if !ok || !known {
		return ""
	}
	return fmt.Sprintf("^%s[0-9a-v]{%d}$", prefix, length)
}
