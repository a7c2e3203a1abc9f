import { Component, type ReactNode } from "react";

/** Draws instead what stands for its content when drawing that fails, so that the rest of the page goes on. */
export class Boundary extends Component<{ instead: (error: Error) => ReactNode; children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    return this.state.error ? this.props.instead(this.state.error) : this.props.children;
  }
}
