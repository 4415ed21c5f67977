/**
 * Asks a service what the token of a target may do on paths: one POST, through a channel that can send nothing else
 * (rules 30, 31). A refusal is no error: then nothing is known.
 */
import { isJsonObject, type Json } from '../model/json/json.ts';
import { type Answer, describeAnswer, type TokenRights, WireError } from '../model/wire.ts';
import { services } from './service-conventions.ts';
import type { Connection } from './transport/connection.ts';
import { asksRightsOnly } from './transport/restrict.ts';
import { Sender, type TokenProvider } from './transport/sender.ts';

/** The most paths of one question: a body has a limit of its own (wire/cluster-auth 2.1). Rights on others stay unknown. */
const maxPaths = 900;

interface RightsQuestion {
  ask(paths: readonly string[]): Promise<TokenRights>;
  readonly sent: number;
}

/** @returns undefined for a service that has no such question */
export function openRightsQuestion(connection: Connection, token: TokenProvider): RightsQuestion | undefined {
  const { rightsPath: path } = services[connection.target.service];
  if (path === undefined) return undefined;
  const dispatcher = asksRightsOnly(connection.dispatcher, `${connection.prefix}${path}`);
  const sender = new Sender({ connection, token, dispatcher });
  return {
    async ask(paths) {
      try {
        // Not repeatable: the plan can do without the answer, and waits for nobody to recover.
        const body = { paths: paths.slice(0, maxPaths) };
        return readRights(await sender.send({ method: 'POST', path, body, repeatable: false }), body.paths);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        return { is: 'untold', why: error.message };
      }
    },
    get sent() {
      return sender.sent;
    },
  };
}

/** The answer holds a list of capabilities for each path, beside or below `data`. One without any of these was not understood. */
function readRights(answer: Answer, paths: readonly string[]): TokenRights {
  const { status, body } = answer;
  const data = isJsonObject(body) && isJsonObject(body['data']) ? body['data'] : body;
  if (status !== 200 || !isJsonObject(data)) return { is: 'untold', why: describeAnswer(answer) };
  const lists = Object.entries(data).flatMap(([path, list]) =>
    isTexts(list) ? [[path, new Set(list)] as const] : [],
  );
  const on = new Map(lists);
  if (paths.some((path) => on.has(path))) return { is: 'told', on };
  const { method, url } = answer;
  return { is: 'untold', why: `${method} ${url} answered ${status} without a list of rights for any path` };
}

function isTexts(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
