// Remit's API for TypeScript, made from its schema by `make clients`. Needs nothing but fetch.

/** `idempotencyKey`: the same key again gives the first answer again, and nothing is done twice. */
export interface Options {
  idempotencyKey?: string;
  signal?: AbortSignal;
}

interface Sent {
  query?: object;
  body?: unknown;
  options: Options;
}

export interface TurnEvent {
  id: number;
  type: string;
  data: unknown;
}

/** An answer that is no success: a problem of RFC 9457. `code` stays from release to release. */
export class RemitProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: Record<string, string>;

  constructor(status: number, said: Partial<Problem>) {
    super(said.detail ?? `HTTP ${status}`);
    this.name = "RemitProblem";
    this.status = status;
    this.code = said.code ?? "";
    this.fields = said.fields ?? {};
  }
}

export class Remit {
  private readonly origin: string;
  private readonly token: string;

  constructor(origin: string, token: string) {
    this.origin = origin.replace(/\/+$/, "");
    this.token = token;
  }

  /** The events of a turn after `after`, to its end. `streamUrl` comes from chatStream. */
  async *follow(streamUrl: string, after = 0, options: Options = {}): AsyncGenerator<TurnEvent> {
    const headers = after ? { "Last-Event-ID": String(after) } : undefined;
    const answer = await fetch(this.origin + streamUrl, { headers, signal: options.signal });
    if (!answer.ok || !answer.body) throw await problemOf(answer);
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    for (let text = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const lines = block.split("\n").map((line) => line.split(/: (.*)/s, 2));
        const field = Object.fromEntries(lines.filter(([name]) => name)) as Record<string, string>;
        if (field.id) yield { id: +field.id, type: field.event, data: JSON.parse(field.data) };
      }
    }
  }

  private async json<T>(method: string, path: string, sent: Sent): Promise<T> {
    return (await (await this.send(method, path, sent)).json()) as T;
  }

  private async blob(method: string, path: string, sent: Sent): Promise<Blob> {
    return (await this.send(method, path, sent)).blob();
  }

  private async send(method: string, path: string, sent: Sent): Promise<Response> {
    const url = new URL(this.origin + path);
    for (const [name, value] of Object.entries(sent.query ?? {}))
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    const headers: Record<string, string> = { Authorization: `Bearer ${this.token}` };
    if (sent.body !== undefined) headers["Content-Type"] = "application/json";
    if (sent.options.idempotencyKey) headers["Idempotency-Key"] = sent.options.idempotencyKey;
    const body = sent.body === undefined ? undefined : JSON.stringify(sent.body);
    const answer = await fetch(url, { method, headers, body, signal: sent.options.signal });
    if (!answer.ok) throw await problemOf(answer);
    return answer;
  }

  // operations
}

async function problemOf(answer: Response): Promise<RemitProblem> {
  const said: Partial<Problem> = await answer.json().catch(() => ({}));
  return new RemitProblem(answer.status, said);
}

// types
