/**
 * Prepares the live config for comparison, and protects a stored reviewer JWT: every write replaces the whole config, so a
 * write with neither the JWT nor an explicit `null` would erase it, and is refused (rule 16).
 */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, type Json, sameJson } from '../../model/json/json.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/comparison.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { quoted } from '../../model/quoted.ts';
import { canonicalDefault } from '../../compare/canonical-spec.ts';
import { diff } from '../../compare/diff.ts';
import { fields } from './fields.ts';
import type { LiveConfig } from './live-config.ts';
import type { ConfigFields, ConfigSpec } from './schema.ts';

type Comparison = CompareContext<ConfigSpec, LiveConfig>;

const JWT = 'tokenReviewerJwt';

export function prepare(context: Comparison): PreparedSpecs<ConfigSpec> {
  const { desired, live, record } = context;
  if (live === undefined) return { desired };
  const prepared = { desired, ...comparableConfig(live, desired, record?.fields ?? {}) };
  const { fields: changes } = diff({ fields, absent: 'default', recorded: record?.fields, ...prepared });
  if (desired[JWT] !== undefined || live.facts.reviewerJwtSet === false)
    return changes.length === 0 ? prepared : { ...prepared, live: asRecorded(prepared.live, record) };
  if (changes.length > 0) return { ...prepared, problems: [wouldWipe(context, live)] };
  return live.facts.reviewerJwtSet === true ? { ...prepared, notes: [undeclaredJwtNote] } : prepared;
}

/**
 * Every write sends the JWT. If the record has no source of it, the plan shows a change to the declared source, so that the
 * sent source is approved.
 */
function asRecorded(live: ConfigFields, record: LedgerRecord<ConfigFields> | undefined): ConfigFields {
  const last = record?.fields[JWT];
  return isJsonObject(live[JWT]) && last !== undefined ? { ...live, [JWT]: last } : live;
}

interface ComparableConfig {
  readonly live: ConfigFields;
  readonly unknown?: Readonly<Record<string, string>>;
}

function comparableConfig(live: LiveConfig, desired: ConfigSpec, recorded: ConfigFields): ComparableConfig {
  const spec = { ...missingDefaults(live.spec, desired, recorded), ...live.spec };
  const isSet = live.facts.reviewerJwtSet;
  const last = withSource(recorded[JWT] ?? null, desired[JWT]);
  if (isSet === true && last === null) {
    const unknown = 'one is stored that this stack did not write, and the service never tells which';
    return { live: spec, unknown: { [JWT]: unknown } };
  }
  // Where the service does not answer whether one is stored, rely on what was written last.
  const isTrue = isSet === true || (isSet === null && last !== null && sameJson(last, desired[JWT]));
  return { live: isTrue ? { ...spec, [JWT]: last } : spec };
}

/** Records of older versions hold no source of the JWT: the declared one is assumed. */
function withSource(last: Json, declared: Json | undefined): Json {
  if (!isJsonObject(declared)) return last;
  const { env: _, file: __, ...sourceless } = declared;
  return sameJson(last, sourceless) ? declared : last;
}

/**
 * Defaults of fields that are neither answered nor declared nor recorded: without them, these fields would differ in every
 * plan.
 */
function missingDefaults(live: Spec, desired: Spec, recorded: Spec): Spec {
  const unanswered = Object.entries(fields).filter(
    ([name, field]) =>
      !field.writeOnly && [live, desired, recorded].every((spec) => spec[name] === undefined),
  );
  return Object.fromEntries(
    unanswered.map(([name, field]): [string, Json] => [name, canonicalDefault(field)]),
  );
}

const undeclaredJwtNote = `a reviewer JWT is stored that the manifest does not mention: it stays, and any change of this config will ask for its source or for ${quoted(`${JWT}: null`)}`;

function wouldWipe({ address, place }: Comparison, live: LiveConfig): Diagnostic {
  const stored =
    live.facts.reviewerJwtSet === true ? 'a reviewer JWT is stored' : 'a reviewer JWT may be stored';
  return {
    code: 'reviewer-jwt-would-be-wiped',
    severity: 'error',
    class: 'invalid',
    message: `${stored} in target ${quoted(address.target)}, and every write replaces the whole config: this one would wipe it`,
    ...(place === undefined ? {} : { place }),
    fix: `give its source (${quoted(`${JWT}: { env: NAME }`)} or "{ file: PATH }"), or write ${quoted(`${JWT}: null`)} to remove it`,
  };
}
