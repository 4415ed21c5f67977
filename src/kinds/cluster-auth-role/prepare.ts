/**
 * Finds what the manifest of a role alone does not show: undeclared live values that contradict the declared ones, so that
 * the service would refuse them, and consequences for logins. Two texts of one selector are made equal.
 */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { type Json, sameJson } from '../../model/json/json.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/kind.ts';
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
  const { desired } = context;
  if (context.live === undefined) return { desired };
  const live = withDeclaredSelector(context.live, desired);
  return {
    desired,
    live: live.spec,
    notes: newIdentities(desired, live),
    problems: conflicts(context, live),
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

function conflicts(context: Comparison, live: LiveRole): Diagnostic[] {
  const spec = merged(context, live);
  // Without a change there is no write that could be refused.
  if (sameJson(spec, canonicalSpec(fields, live.spec))) return [];
  return findConflicts(spec, context.dialect).map(({ code, message, found }) => ({
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
