/**
 * What the live config is to be compared as, and the guard of the stored reviewer JWT: every write replaces the whole
 * config, so a write that neither carries the JWT nor says `null` would wipe it, and is refused (rule 16).
 */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, type Json, sameJson } from '../../model/json/json.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/kind.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { canonicalDefault } from '../../compare/canonical-spec.ts';
import { diff } from '../../compare/diff.ts';
import { fields } from './fields.ts';
import type { LiveConfig } from './live-config.ts';
import type { ConfigFields, ConfigSpec } from './schema.ts';

type Meeting = CompareContext<ConfigSpec, LiveConfig>;

const JWT = 'tokenReviewerJwt';

export function prepare(meeting: Meeting): PreparedSpecs<ConfigSpec> {
  const { desired, live, record } = meeting;
  if (live === undefined) return { desired };
  const prepared = { desired, ...comparedAs(live, desired, record?.fields ?? {}) };
  const { fields: changes } = diff({ fields, absent: 'default', recorded: record?.fields, ...prepared });
  if (desired[JWT] !== undefined || live.facts.reviewerJwtSet === false)
    return changes.length === 0 ? prepared : { ...prepared, live: asRecorded(prepared.live, record) };
  if (changes.length > 0) return { ...prepared, problems: [wouldWipe(meeting, live)] };
  return live.facts.reviewerJwtSet === true ? { ...prepared, notes: [unmentioned] } : prepared;
}

/**
 * A write sends the JWT, whatever else it is for. One that the record has no source of is then a change to the source that
 * is declared: who approves the write has read which one is sent.
 */
function asRecorded(live: ConfigFields, record: LedgerRecord<ConfigFields> | undefined): ConfigFields {
  const last = record?.fields[JWT];
  return isJsonObject(live[JWT]) && last !== undefined ? { ...live, [JWT]: last } : live;
}

interface ComparableConfig {
  readonly live: ConfigFields;
  readonly unknown?: Readonly<Record<string, string>>;
}

function comparedAs(live: LiveConfig, desired: ConfigSpec, recorded: ConfigFields): ComparableConfig {
  const spec = { ...unansweredDefaults(live.spec, desired, recorded), ...live.spec };
  const isSet = live.facts.reviewerJwtSet;
  const last = withSource(recorded[JWT] ?? null, desired[JWT]);
  if (isSet === true && last === null) {
    const unknown = 'one is stored that this stack did not write, and the service never tells which';
    return { live: spec, unknown: { [JWT]: unknown } };
  }
  // Where the service does not tell whether there is one, what was written last is all that there is to go by.
  const isTrue = isSet === true || (isSet === null && last !== null && sameJson(last, desired[JWT]));
  return { live: isTrue ? { ...spec, [JWT]: last } : spec };
}

/** A record from before sources were kept says nothing of where the JWT came from: what is declared is taken for it. */
function withSource(last: Json, declared: Json | undefined): Json {
  if (!isJsonObject(declared)) return last;
  const { env: _, file: __, ...sourceless } = declared;
  return sameJson(last, sourceless) ? declared : last;
}

/**
 * A field that the service does not answer, that nobody declares and that was never recorded is taken for its default:
 * otherwise it would seem to differ in every plan.
 */
function unansweredDefaults(live: Spec, desired: Spec, recorded: Spec): Spec {
  const silent = Object.entries(fields).filter(
    ([name, field]) =>
      !field.writeOnly && [live, desired, recorded].every((spec) => spec[name] === undefined),
  );
  return Object.fromEntries(silent.map(([name, field]): [string, Json] => [name, canonicalDefault(field)]));
}

const unmentioned = `a reviewer JWT is stored that the manifest does not mention: it stays, and any change of this config will ask for its source or for "${JWT}: null"`;

function wouldWipe({ address, place }: Meeting, live: LiveConfig): Diagnostic {
  const stored =
    live.facts.reviewerJwtSet === true ? 'a reviewer JWT is stored' : 'a reviewer JWT may be stored';
  return {
    code: 'reviewer-jwt-would-be-wiped',
    severity: 'error',
    class: 'invalid',
    message: `${stored} in target "${address.target}", and every write replaces the whole config: this one would wipe it`,
    ...(place === undefined ? {} : { place }),
    fix: `give its source ("${JWT}: { env: NAME }" or "{ file: PATH }"), or write "${JWT}: null" to remove it`,
  };
}
