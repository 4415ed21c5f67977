/**
 * What may be shown of a secret: whether it is set, its version, and the name of its source. Plans, ledgers, histories
 * and reports hold only this; the value never passes through here (rules 16, 27).
 */
import { isJsonObject, type Json } from './json/json.ts';

interface SecretSummary {
  readonly set: boolean;
  readonly version?: number;
  /** the environment variable that it is read from */
  readonly env?: string;
  /** or the file that it is read from */
  readonly file?: string;
}

/** Undefined for undefined (not declared) and null (none wanted). All other members of the value are dropped. */
export function summarizeSecret(value: Json | undefined): SecretSummary | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) return { set: value !== false };
  const { set, version, env, file } = value;
  return {
    set: set !== false,
    ...(typeof version === 'number' ? { version } : {}),
    ...(typeof env === 'string' ? { env } : typeof file === 'string' ? { file } : {}),
  };
}
