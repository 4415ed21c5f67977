/**
 * A change of the manifests that a command was asked to make: one value of a resource, or that a resource is no longer
 * declared.
 */
import { type Address, formatAddress } from '../../model/address.ts';
import type { Diagnostic, Place } from '../../model/diagnostic.ts';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import type { Field, FieldTable } from '../../model/field.ts';
import type { Json, Path } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';

export interface AcceptedChange {
  readonly address: Address;
  /** of the field; empty for the whole resource */
  readonly path: Path;
  /** canonical; undefined removes the member, or the resource */
  readonly value: Json | undefined;
}

/** A value that is left as it is, and why. */
export interface Refusal {
  readonly taking: Pick<AcceptedChange, 'address' | 'path'>;
  readonly why: Diagnostic;
}

/** The same for the same value of the same resource. */
export function acceptedChangeKey({ address, path }: Pick<AcceptedChange, 'address' | 'path'>): string {
  return JSON.stringify([formatAddress(address), ...path]);
}

/** `autoApply of Workspace/acme/app`, or only the address. */
export function nameOfAcceptedChange({ address, path }: Pick<AcceptedChange, 'address' | 'path'>): string {
  const field = path.length === 0 ? '' : `${quoted(path.join('.'))} of `;
  return `${field}${quoted(formatAddress(address))}`;
}

export function refuse(
  taking: Refusal['taking'],
  code: DiagnosticCode,
  about: { readonly message: string; readonly fix: string; readonly place?: Place | undefined },
): Refusal {
  const { message, fix, place } = about;
  const why = { code, severity: 'error', class: 'failure', message, fix } as const;
  return { taking, why: place === undefined ? why : { ...why, place } };
}

/** It is a secret, or with it the text would have what no patch shows: that is never written. */
export function refuseSecret(taking: Refusal['taking'], place: Place | undefined): Refusal {
  return refuse(taking, 'value-secret', {
    message: `${nameOfAcceptedChange(taking)} is a secret, or holds one: it is not written into a file`,
    place,
    fix: 'name its source in the manifest, or write by hand what may stand there',
  });
}

/** The field of a path; undefined for a key that users choose. */
export function fieldAt(fields: FieldTable, [name = '', ...rest]: Path): Field | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return rest.length === 0 ? field : field?.members && fieldAt(field.members, rest);
}
