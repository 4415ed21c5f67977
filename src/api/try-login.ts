/**
 * Tries a login: logs in once, and revokes the token at once. The token never leaves this file. The login is not repeated after a
 * failure: each attempt may leave a token, and some services lock an account after several failures.
 */
import type { LoginTrial } from '../model/login-check.ts';
import type { Target } from '../model/stack.ts';
import { type Answer, describeAnswer, WireError } from '../model/http.ts';
import { explainRefusal } from './transport/service-conventions.ts';
import { grantIn, LoginChannel } from './login.ts';
import { type ConnectionOptions, openConnection } from './transport/connection.ts';

/** For one login; it can send nothing else. */
export interface TrialConnection {
  /** @throws WireError when the service cannot be reached, or its answer is neither a token nor a refusal */
  tryLogin(role: string, jwt: string): Promise<LoginTrial>;
  /** Waits until the token of a login is revoked, and closes the connections. */
  close(): Promise<void>;
}

/** @param mount without leading or trailing slash; may have slashes inside */
export function openTrial(options: ConnectionOptions, mount: string): TrialConnection {
  const connection = openConnection(options);
  const channel = new LoginChannel(connection, mount);
  let last: Promise<unknown> = Promise.resolve();
  const logIn = async (role: string, jwt: string): Promise<LoginTrial> => {
    const answer = await channel.logIn(role, jwt, { repeatable: false });
    const grant = grantIn(answer);
    if (grant === undefined) return { granted: false, why: refusalIn(options.target, answer) };
    const { token, lease, policies } = grant;
    const unrevoked = await whyUnrevoked(channel, token);
    const { warnings = [] } = answer;
    return { granted: true, lifetime: lease, policies, warnings, ...(unrevoked && { unrevoked }) };
  };
  return {
    tryLogin(role, jwt) {
      const trial = logIn(role, jwt);
      last = trial.catch(() => undefined);
      return trial;
    },
    async close() {
      connection.stop();
      await last;
      await connection.close();
    },
  };
}

/** The statuses with which the service refuses a login (wire/cluster-auth 3). */
function isRefusal(status: number): boolean {
  return (status >= 400 && status < 500 && status !== 408 && status !== 429) || status === 500;
}

/** @throws WireError when the answer is about the whole target, or unexpected for a login */
function refusalIn(target: Target, answer: Answer): string {
  const { status, method, url } = answer;
  const targetRefusal = explainRefusal(target, answer);
  if (targetRefusal === undefined && isRefusal(status)) return describeAnswer(answer);
  const why = targetRefusal ?? `the login got an unexpected answer: ${describeAnswer(answer)}`;
  throw new WireError(why, { method, url, sent: true });
}

async function whyUnrevoked(channel: LoginChannel, token: string): Promise<string | undefined> {
  try {
    const answer = await channel.revoke(token);
    return answer.status < 300 ? undefined : describeAnswer(answer);
  } catch (error) {
    if (error instanceof WireError) return error.message;
    throw error;
  }
}
