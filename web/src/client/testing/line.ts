/** A line between a client and a host that breaks and freezes where a test wants it. */
import { connect, createServer, type Server, type Socket } from "node:net";

export interface Cut {
  /** Bytes from the host after which the line breaks, or freezes. */
  after: number;
  /** The line stays, and nothing comes over it any more. */
  freeze: boolean;
}

export class Line {
  /** Draws what becomes of the next connection; undefined leaves it whole. */
  next: () => Cut | undefined = () => undefined;
  /** Nothing of the host comes over; what is sent to it does. */
  mute = false;
  /** Connections that were cut, and those that were frozen. */
  cut = 0;
  frozen = 0;
  private readonly open = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: () => number,
  ) {
    server.on("connection", (s) => this.serve(s));
  }

  static async listen(target: () => number): Promise<Line> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    return new Line(server, target);
  }

  get port(): number {
    return (this.server.address() as { port: number }).port;
  }

  /** Breaks all lines that there are. */
  breakAll(): void {
    for (const s of this.open) s.destroy();
  }

  async close(): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }

  private serve(client: Socket): void {
    const plan = this.next();
    const host = connect(this.target(), "127.0.0.1");
    for (const s of [client, host]) {
      this.open.add(s);
      s.on("error", () => {});
      s.on("close", () => {
        this.open.delete(s);
        client.destroy();
        host.destroy();
      });
    }
    let left = plan?.after ?? Number.POSITIVE_INFINITY;
    let frozen = false;
    client.on("data", (data) => {
      if (!frozen) host.write(data);
    });
    host.on("data", (data) => {
      if (frozen || this.mute) return;
      const part = data.subarray(0, left);
      left -= part.length;
      if (left > 0) {
        client.write(part);
        return;
      }
      if (plan?.freeze) {
        this.frozen++;
        frozen = true;
        client.write(part);
        return;
      }
      this.cut++;
      client.end(part, () => client.destroy()); // so that the bytes before the cut arrive
    });
  }
}
