/** Declared fields that the service does not answer (rules 12, 48). */
import { isJsonObject, type Json } from '../../../model/json/json.ts';
import type { ReadRequest } from '../../../model/kind/kind.ts';
import { formatAddress } from '../../../model/resource/address.ts';
import type { Spec } from '../../../model/resource/resource.ts';
import { fields } from '../fields.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type { LiveWorkspace } from '../workspace-types.ts';

type Request = Pick<ReadRequest<WorkspaceSpec>, 'declared'>;

/** Those of resources that exist, whose drift cannot be seen. */
export function invisibleFields({ declared }: Request, resources: readonly LiveWorkspace[]): string[] {
  const live = new Map(
    resources.map((resource) => [formatAddress(resource.address), resource.spec] as const),
  );
  const unseen = declared.flatMap(({ address, spec }) => {
    const seen = live.get(formatAddress(address));
    if (seen === undefined) return [];
    const found: Spec = seen;
    const top = Object.keys(spec).filter((name) => isLiveField(name) && found[name] === undefined);
    return [...top, ...unseenMembers(spec.vcsRepo, seen.vcsRepo)];
  });
  return [...new Set(unseen)];
}

/** Declared fields that no workspace of the organization is answered with. */
export function lackingFields({ declared }: Request, resources: readonly LiveWorkspace[]): string[] {
  if (resources.length === 0) return [];
  const answered = new Set(resources.flatMap(({ spec }) => Object.keys(spec)));
  const wanted = new Set(declared.flatMap(({ spec }) => Object.keys(spec)));
  const isLacking = (name: string) => !answered.has(name) && hasOwnAnswer.has(name);
  return [...wanted].filter((name) => isLiveField(name) && isLacking(name)).toSorted();
}

/** Not those with requests of their own, which are read only where they matter, and not what a creation alone takes. */
const hasOwnAnswer = new Set(
  Object.entries(fields).flatMap(([name, { createOnly }]) =>
    createOnly || name === 'dataRetentionPolicy' ? [] : name,
  ),
);

function isLiveField(name: string): boolean {
  return fields[name] !== undefined && fields[name].local !== true;
}

function unseenMembers(declared: Json | undefined, seen: Json | undefined): string[] {
  if (!isJsonObject(declared) || !isJsonObject(seen)) return [];
  return Object.keys(declared).flatMap((name) => (seen[name] === undefined ? [`vcsRepo.${name}`] : []));
}
