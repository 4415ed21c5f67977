/**
 * Finds out from the answers of a service which dialect of workspaces it speaks: by the names of members in a workspace, by a header,
 * or by its host. It sends nothing: plans, `doctor` and `init` read these answers anyway. Sources: wire/workspaces 1.1, 1.6.
 */
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import { quoted, quoteSome } from '../model/quoted.ts';
import type { Dialect, Target } from '../model/stack.ts';
import { dialects } from './dialects.ts';

/** An answer as the service wrote it: its names are not translated. */
interface RawDocument {
  readonly body: Json;
  /** the value of a header, by its name in lower case */
  header(name: string): string | undefined;
}

export interface SpokenDialect {
  readonly dialect: Dialect;
  /** how it is known, as a clause */
  readonly sign: string;
  /** false if only a header shows it, or some workspaces have the names of another dialect */
  readonly isCertain: boolean;
}

/** Collects the signs of a dialect in the answers of one service. Finds none for services other than workspaces. */
export class DialectSigns {
  readonly #target: Pick<Target, 'url'>;
  readonly #dialect: Dialect;
  readonly #known: readonly Dialect[];
  /** what the names in workspaces show */
  #named: Pick<SpokenDialect, 'dialect' | 'sign'> | undefined;
  /** whether any workspace has the names of the requests' dialect */
  #hasOwnNames = false;
  /** what a header shows */
  #byHeader: Dialect | undefined;

  /** @param dialect the dialect of the requests */
  constructor(target: Pick<Target, 'service' | 'url'>, dialect: Dialect) {
    this.#target = target;
    this.#dialect = dialect;
    this.#known =
      target.service === 'workspaces'
        ? [...dialects.values()].filter(({ service }) => service === target.service)
        : [];
  }

  learn({ body, header }: RawDocument): void {
    this.#byHeader ??= this.#known.find(
      ({ answerHeader }) => answerHeader !== undefined && header(answerHeader) !== undefined,
    );
    const attributes = this.#known.length === 0 ? undefined : firstWorkspace(body);
    if (attributes !== undefined) this.#learnNames(attributes);
  }

  /** If a workspace has equally many names of two dialects, the dialect of the requests counts. */
  #learnNames(attributes: JsonObject): void {
    const neutral = [...new Set(this.#known.flatMap(({ rename }) => Object.keys(rename)))];
    const found = ({ rename }: Dialect) =>
      neutral.map((name) => rename[name] ?? name).filter((name) => attributes[name] !== undefined);
    const own = found(this.#dialect);
    const [best = this.#dialect] = this.#known.toSorted(
      (one, other) => found(other).length - found(one).length,
    );
    const sign = (names: readonly string[]) => `a workspace has ${quoteSome(names, 3)}`;
    if (found(best).length > own.length) this.#named = { dialect: best, sign: sign(found(best)) };
    else if (own.length > 0) {
      this.#hasOwnNames = true;
      this.#named ??= { dialect: this.#dialect, sign: sign(own) };
    }
  }

  /** What the answers show so far; undefined if they show nothing. Names take precedence over the host, and the host over a header. */
  spoken(): SpokenDialect | undefined {
    if (this.#named !== undefined) {
      const isOwn = this.#named.dialect === this.#dialect;
      return { ...this.#named, isCertain: isOwn || !this.#hasOwnNames };
    }
    const byHost = this.#known.length === 0 ? undefined : dialectOfHost(this.#target);
    if (byHost !== undefined || this.#byHeader === undefined) return byHost;
    const { answerHeader = '' } = this.#byHeader;
    const sign = `its answers have the header ${quoted(answerHeader)}`;
    return { dialect: this.#byHeader, sign, isCertain: false };
  }
}

/** The dialect of a host that belongs to one product; undefined for any other host. */
export function dialectOfHost({ url }: Pick<Target, 'url'>): SpokenDialect | undefined {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  const dialect = [...dialects.values()].find(({ hosted }) => hosted?.hosts.has(host));
  return dialect && { dialect, sign: `the host is one of ${dialect.spokenBy}`, isCertain: true };
}

/**
 * The dialect without an answer header. A service without workspaces probably speaks it, if the answer to `/ping` lacks the header that
 * clients of the other dialects need (wire/workspaces 1.6).
 */
export function dialectWithoutHeader({ service }: Pick<Target, 'service'>): SpokenDialect | undefined {
  const all = [...dialects.values()].filter((dialect) => dialect.service === service);
  const headers = all.flatMap(({ answerHeader = [] }) => answerHeader);
  const dialect = all.find(({ answerHeader }) => answerHeader === undefined);
  return dialect && { dialect, sign: `no answer has the header ${quoteSome(headers)}`, isCertain: false };
}

/**
 * What is wrong, and what to do, if the service speaks another dialect than the one of its target.
 * @param subject the target, as the message names it
 */
export function otherDialect(
  { dialect: own }: Pick<Target, 'dialect'>,
  spoken: SpokenDialect | undefined,
  subject = 'the target',
): { readonly message: string; readonly fix: string } | undefined {
  if (spoken === undefined || spoken.dialect.name === own) return undefined;
  const { name } = spoken.dialect;
  const speaks = spoken.isCertain ? 'speaks' : 'seems to speak';
  return {
    message: `${subject} has the dialect ${quoted(own)}, and the service ${speaks} ${quoted(name)}: ${spoken.sign}`,
    fix: `write ${quoted(`dialect: ${name}`)} into the target`,
  };
}

/**
 * What to check if there is no workspace, and no answer has the header of the target's dialect; undefined for a dialect without one.
 * @param subject the target, as the message names it
 */
export function unconfirmedDialect(
  { name, answerHeader, spokenBy }: Dialect,
  subject = 'the target',
): { readonly message: string; readonly fix: string } | undefined {
  if (answerHeader === undefined) return undefined;
  return {
    message: `${subject} has the dialect ${quoted(name)}, and nothing confirms it: there is no workspace yet, and no answer has the header ${quoted(answerHeader)}`,
    fix: `if the service is not ${spokenBy}, write its dialect into the target, such as "dialect: neutral"`,
  };
}

/** The attributes of the first workspace in a document: the others have the same names. */
function firstWorkspace(body: Json): JsonObject | undefined {
  const data = memberOf(body, 'data');
  const first = Array.isArray(data) ? data[0] : data;
  if (!isJsonObject(first) || first['type'] !== 'workspaces') return undefined;
  const attributes = first['attributes'];
  return isJsonObject(attributes) ? attributes : undefined;
}
