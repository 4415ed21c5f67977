/** A user with a browser who logs in at the console of a fleet: it keeps cookies and follows redirects. */
import type { Answer, TestConsole } from './console.ts';

export class ConsoleUser {
  readonly #console: TestConsole;
  readonly #host: string | undefined;
  readonly cookies = new Map<string, string>();
  /** the `set-cookie` headers of all responses */
  readonly setCookies: string[] = [];

  /** @param host the `host` header of its requests */
  constructor(console: TestConsole, host?: string) {
    this.#console = console;
    this.#host = host;
  }

  async ask(
    path: string,
    { accept = 'text/html', method = 'GET', headers = {} }: Partial<Asked> = {},
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.#console.get(
      path,
      {
        ...{ Accept: accept, ...headers },
        ...(cookie === '' ? {} : { Cookie: cookie }),
        ...(this.#host === undefined ? {} : { Host: this.#host }),
      },
      method,
    );
    for (const text of answer.headers['set-cookie'] ?? []) {
      this.setCookies.push(text);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (value === '' || /Expires=Thu, 01 Jan 1970/.test(text)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  /** Starts a login. @returns the path to which the issuer redirects it */
  async startLogin(path = '/'): Promise<string> {
    const { headers, text } = await this.ask(`/login?${new URLSearchParams({ to: path })}`);
    const address = refreshUrlIn(text);
    if (address === undefined)
      throw new Error(`the page leads to no issuer: ${JSON.stringify(headers)} ${text}`);
    const answer = await fetch(address, { redirect: 'manual' });
    const back = new URL(answer.headers.get('location') ?? '');
    return back.pathname + back.search;
  }

  /** Logs in. @returns the last response, which redirects to the page */
  async logIn(path = '/'): Promise<Answer> {
    return this.ask(await this.startLogin(path));
  }
}

interface Asked {
  readonly accept: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The URL to which a page redirects with `http-equiv="refresh"`; undefined if it does not. */
export function refreshUrlIn(page: string): string | undefined {
  return /http-equiv="refresh" content="0; url=([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
}
