package demo

import "scorel/internal/model"

func New() model.Model { return nil }
