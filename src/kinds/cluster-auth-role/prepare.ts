/**
 * What a change of a role meets that its manifest alone does not show: live values that the manifest leaves out and the
 * service would refuse beside the declared ones, and consequences for who logs in. It changes no comparison.
 */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { type Json, sameJson } from '../../model/json/json.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/kind.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import { fieldValue } from '../../services/cluster-auth/field-value.ts';
import { findConflicts } from './check.ts';
import { fields } from './fields.ts';
import { liveFieldNames, type LiveRole } from './live-role.ts';
import type { RoleFields, RoleSpec } from './schema.ts';

type Meeting = CompareContext<RoleSpec, LiveRole>;

const ALIAS = 'aliasNameSource';

export function prepare(meeting: Meeting): PreparedSpecs<RoleSpec> {
  const { desired, live } = meeting;
  if (live === undefined) return { desired };
  return {
    desired,
    live: live.spec,
    notes: newIdentities(desired, live),
    problems: conflicts(meeting, live),
  };
}

function newIdentities(desired: RoleSpec, live: LiveRole): string[] {
  if (desired[ALIAS] === undefined) return [];
  if (fieldValue(fields, desired, ALIAS) === fieldValue(fields, live.spec, ALIAS)) return [];
  return [
    `${ALIAS} changes: the next login of each service account makes a new identity, without the groups and metadata of the old one`,
  ];
}

function conflicts(meeting: Meeting, live: LiveRole): Diagnostic[] {
  const spec = merged(meeting, live);
  // A role that stands as it is needs no write that could be refused.
  if (sameJson(spec, canonicalSpec(fields, live.spec))) return [];
  return findConflicts(spec).map(({ code, message, found }) => ({
    code,
    severity: 'error',
    class: 'invalid',
    message: `${message}, and one of them is live and not declared`,
    ...(meeting.place === undefined ? {} : { place: meeting.place }),
    ...(found === undefined ? {} : { found }),
    fix: 'declare both fields so that they fit',
  }));
}

/** The role as a write would leave it: declared over live; what is no longer declared goes back to its default. */
function merged({ desired, record }: Meeting, live: LiveRole): RoleFields {
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
