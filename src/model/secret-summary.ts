/**
 * What may be known of a secret: whether there is one, its version, and the name of its source. Plans, ledgers, histories
 * and reports hold this and nothing else of it; a value never comes through here (rules 16, 27).
 */
import { isJsonObject, type Json } from './json/json.ts';

export interface SecretSummary {
  readonly set: boolean;
  readonly version?: number;
  /** the environment variable that it is read from */
  readonly env?: string;
  /** or the file */
  readonly file?: string;
}

/** Undefined for undefined and null: nothing is said, or none is wanted. Whatever else the value holds is dropped. */
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
