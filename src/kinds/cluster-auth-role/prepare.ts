/**
 * Finds what the manifest of a role alone does not show: undeclared live values that contradict the declared ones, so that
 * the service would refuse the write, and consequences for logins. An undeclared value that changed since the last apply is
 * reset in the same write; any other one is an error. Two texts of one selector are made equal.
 */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { type Json, sameJson } from '../../model/json/json.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/comparison.ts';
import type { ResourceProblem } from '../../model/kind/kind.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import { fieldValue } from '../../services/cluster-auth/field-value.ts';
import { findConflicts } from './check.ts';
import { fields, SELECTOR } from './fields.ts';
import { liveFieldNames, type LiveRole } from './live-role.ts';
import { isSameSelector } from './namespace-selector.ts';
import type { RoleFields, RoleSpec } from './schema.ts';

type Comparison = CompareContext<RoleSpec, LiveRole>;

const ALIAS = 'aliasNameSource';

export function prepare(context: Comparison): PreparedSpecs<RoleSpec> {
  if (context.live === undefined) return { desired: context.desired };
  const live = withDeclaredSelector(context.live, context.desired);
  const { values, origins } = resetsOfDrift(context, live);
  // The values are canonical ones of the same fields, from the ledger.
  const desired: RoleSpec = { ...context.desired, ...(values as RoleSpec) };
  return {
    desired,
    live: live.spec,
    origins,
    notes: newIdentities(desired, live),
    problems: conflicts({ ...context, desired }, live),
  };
}

interface Resets {
  readonly values: Readonly<Record<string, Json>>;
  readonly origins: Readonly<Record<string, string>>;
}

/**
 * The undeclared fields that somebody changed since the last apply, and that the service would refuse beside the declared ones:
 * they go back to what they were then. Without a record of that, nothing proves that the value is drift.
 */
function resetsOfDrift(context: Comparison, live: LiveRole): Resets {
  const { desired, record } = context;
  const [declared, recorded, found]: readonly [Spec, Spec, Spec] = [desired, record?.fields ?? {}, live.spec];
  const applied = record?.content ?? found;
  const drifted = new Set(
    liveFieldNames.filter(
      (name) =>
        declared[name] === undefined &&
        recorded[name] === undefined &&
        !sameJson(fieldValue(fields, found, name), fieldValue(fields, applied, name)),
    ),
  );
  const pairs = conflictsOf(context, live).flatMap(({ path: [one], related }) => {
    const other = related?.path[0];
    if (one === undefined || other === undefined) return [];
    return [[one, other] as const, [other, one] as const].filter(([name]) => drifted.has(name));
  });
  return {
    values: Object.fromEntries(pairs.map(([name]) => [name, fieldValue(fields, applied, name)])),
    origins: Object.fromEntries(
      pairs.map(([name, other]) => [name, `reset because it conflicts with ${other}`]),
    ),
  };
}

/** The same selector in another text is no difference. The wire keeps the texts: each is sent as it is written (rule 17). */
function withDeclaredSelector(live: LiveRole, desired: RoleSpec): LiveRole {
  const [declared, found] = [desired[SELECTOR], live.spec[SELECTOR]];
  if (typeof declared !== 'string' || typeof found !== 'string') return live;
  return isSameSelector(declared, found) ? { ...live, spec: { ...live.spec, [SELECTOR]: declared } } : live;
}

function newIdentities(desired: RoleSpec, live: LiveRole): string[] {
  if (desired[ALIAS] === undefined) return [];
  if (fieldValue(fields, desired, ALIAS) === fieldValue(fields, live.spec, ALIAS)) return [];
  return [
    `${ALIAS} changes: the next login of each service account makes a new identity, without the groups and metadata of the old one`,
  ];
}

/** What the service would refuse about the role as it would be written. */
function conflictsOf(context: Comparison, live: LiveRole): readonly ResourceProblem[] {
  const spec = merged(context, live);
  // Without a change there is no write that could be refused.
  return sameJson(spec, canonicalSpec(fields, live.spec)) ? [] : findConflicts(spec, context.dialect);
}

function conflicts(context: Comparison, live: LiveRole): Diagnostic[] {
  return conflictsOf(context, live).map(({ code, message, found }) => ({
    code,
    severity: 'error',
    class: 'invalid',
    message: `${message}, and one of them is live and not declared`,
    ...(context.place === undefined ? {} : { place: context.place }),
    ...(found === undefined ? {} : { found }),
    fix: 'declare both fields so that they fit',
  }));
}

/** The role after the write: declared over live values; fields that are no longer declared have their defaults. */
function merged({ desired, record }: Comparison, live: LiveRole): RoleFields {
  const [declared, found, recorded]: readonly [Spec, Spec, Spec] = [desired, live.spec, record?.fields ?? {}];
  const spec: Record<string, Json> = {};
  for (const name of liveFieldNames) {
    const dropped =
      declared[name] === undefined && recorded[name] !== undefined && fields[name]?.default !== undefined;
    const side = declared[name] === undefined ? found : declared;
    if (dropped || side[name] !== undefined) spec[name] = fieldValue(fields, dropped ? {} : side, name);
  }
  return spec;
}
