/**
 * The values of fields that no manifest mentions, as they are live. The ledger keeps them, so that it can be told later that
 * somebody changed one (rule 49). Nothing is ever written because of them.
 */
import { createHash } from 'node:crypto';
import { canonicalDefault, canonicalValue, contentAfter } from '../../compare/canonical-spec.ts';
import type { FieldChange, FieldTable } from '../../model/kind/field.ts';
import { isJsonObject, type Json, sameJson } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import { maskAddresses } from '../../model/mask-addresses.ts';
import { maskPrivateKeys } from '../../model/private-key.ts';
import type { LiveResource, Spec } from '../../model/resource/resource.ts';

/**
 * Only values that are no default, so that the ledger stays small. What an export leaves out, because it follows from something
 * else or lasts a moment, is left out here, too.
 * @param declared canonical; its fields are left out, of an object those members that it has
 * @param changes that are made to the live resource before anybody compares
 */
export function seenValues(
  { fields, toManifest: describe }: Pick<Kind, 'fields' | 'toManifest'>,
  live: LiveResource,
  { declared, changes }: { readonly declared: Spec; readonly changes: readonly FieldChange[] },
): Spec {
  const described = describe?.(live, {}).spec ?? live.spec;
  const changed = new Set(changes.map(({ path: [name] }) => name));
  const after = Object.entries(contentAfter(fields, described, changes)).filter(
    ([name]) => described[name] !== undefined || changed.has(name),
  );
  return undeclaredIn(fields, Object.fromEntries(after), declared);
}

/**
 * What a resource with a claim is like as a whole, where only the ledger can show that somebody changed it since this stack last
 * wrote it (rule 48): its fields that are no defaults, and what its kind adds.
 */
export function writtenContent(
  kind: Pick<Kind, 'fields' | 'toManifest' | 'contentBesides'>,
  live: LiveResource,
): Spec {
  return { ...seenValues(kind, live, { declared: {}, changes: [] }), ...kind.contentBesides?.(live) };
}

/** The values of a canonical spec that another one does not mention, and that are no defaults. */
export function undeclaredIn(table: FieldTable, spec: Spec, declared: Spec): Spec {
  const found = Object.entries(table).flatMap(([name, field]): [string, Json][] => {
    const [value, mentioned] = [spec[name], declared[name]];
    if (value === undefined || field.local || field.writeOnly || field.createOnly) return [];
    if (mentioned === undefined)
      return sameJson(value, canonicalDefault(field))
        ? []
        : [[name, withoutSecrets(canonicalValue(field, value))]];
    if (field.members === undefined || !isJsonObject(value) || !isJsonObject(mentioned)) return [];
    const members = undeclaredIn(field.members, value, mentioned);
    return Object.keys(members).length === 0 ? [] : [[name, members]];
  });
  return Object.fromEntries(found);
}

/** An address may hold a password, and a text a private key, that no manifest knows: a digest tells as well that somebody changed it. */
function withoutSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [masked(name), withoutSecrets(member)]),
    );
  return typeof value === 'string' ? masked(value) : value;
}

function masked(text: string): string {
  const shown = maskPrivateKeys(maskAddresses(text));
  if (shown === text) return text;
  return `${shown} (sha256 ${createHash('sha256').update(text).digest('hex').slice(0, 16)})`;
}
