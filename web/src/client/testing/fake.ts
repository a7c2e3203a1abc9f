/** A host that a test plays by hand: what the client sends, and what comes. */
import type { Call, Connected, DeviceID, ErrorMessage } from "../../protocol/index";
import { ConnectionError } from "../errors";
import type { Dial, HostMessage, Receiver, Transport } from "../transport";
import { until } from "./random";

export const device = "dev_00000000000000000000000001" as DeviceID;

const said: Connected = { deviceId: device, grant: "control", version: "test" };

/** One connection of the played host. */
export class Wire implements Transport {
  readonly sent: Call[] = [];
  probed = 0;
  private gone = false;

  constructor(private readonly receiver: Receiver) {}

  send(text: string): boolean {
    if (this.gone) return false;
    this.sent.push(JSON.parse(text));
    return true;
  }

  probe(): void {
    this.probed++;
  }

  close(): void {
    this.break();
  }

  /** The connection breaks. */
  break(why: Error = new ConnectionError("the connection to the host broke")): void {
    if (this.gone) return;
    this.gone = true;
    this.receiver.closed(why);
  }

  /** The host sends something. */
  says(m: unknown): void {
    this.receiver.message(m as HostMessage);
  }

  answers(call: Call | undefined, data: unknown): void {
    this.says({ type: "response", requestId: call?.requestId, data });
  }

  refuses(call: Call | undefined, code: ErrorMessage["code"]): void {
    this.says({ type: "error", requestId: call?.requestId, code, message: `it is ${code}` });
  }

  /** Waits for the n-th call of a type, from 0. */
  async call(type: Call["type"], n = 0): Promise<Call> {
    const found = () => this.sent.filter((c) => c.type === type);
    await until(
      () => found().length > n,
      () => `${type} was not sent: ${this.sent.map((c) => c.type)}`,
    );
    return found()[n] as Call;
  }
}

/** The played host: each connection that is asked for is made at once, unless it is refused. */
export class FakeHost {
  readonly wires: Wire[] = [];
  refusal: Error | undefined;
  tries = 0;

  readonly dial: Dial = async (receiver) => {
    this.tries++;
    if (this.refusal) throw this.refusal;
    const wire = new Wire(receiver);
    this.wires.push(wire);
    return { transport: wire, connected: said };
  };

  /** Waits for the n-th connection, from 0. */
  async wire(n = 0): Promise<Wire> {
    await until(
      () => this.wires.length > n,
      () => `there is no connection ${n}`,
    );
    return this.wires[n] as Wire;
  }
}
