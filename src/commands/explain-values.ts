/** Where each value of a resource is written: in its document or template, in a list, or in the defaults of the stack. */
import type { Entry } from '../manifest/resolve-resources.ts';
import { formatAddress } from '../model/address.ts';
import type { Place } from '../model/diagnostic.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { isJsonObject, type Json, type Path } from '../model/json.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { quoted } from '../model/quoted.ts';
import { CommandStop } from '../run/command-stop.ts';
import type { CliHost } from '../run/host.ts';
import { loadManifests } from '../run/load-manifests.ts';
import { learnSources } from '../run/needed-secrets.ts';

export interface ExplainedValue {
  /** in its document: `metadata.name`, `spec.vcsRepo.branch` */
  readonly path: Path;
  readonly value: Json;
  readonly origin: 'document' | 'template' | 'list' | 'defaults';
  readonly place: Place;
}

export interface ExplainedResource {
  readonly address: Entry['address'];
  readonly values: readonly ExplainedValue[];
  /** the addresses of its short forms */
  readonly children: readonly string[];
}

/** @throws CommandStop when no valid manifest declares the address */
export async function explainResource(
  address: string,
  path: string | undefined,
  host: CliHost,
): Promise<ExplainedResource> {
  const { stack, entries, diagnostics, resources } = await loadManifests(path, host);
  const entry = entries.find((one) => formatAddress(one.address) === address);
  if (stack === undefined || (entry?.resource === undefined && hasErrors(diagnostics)))
    throw CommandStop.ofProblems(diagnostics);
  if (entry?.resource === undefined) throw unknownAddress(address, entries);
  await learnSources(stack, resources, host, { files: 'none' });
  const children = entries.filter(
    ({ declaration, target, shortForm }) =>
      entry.shortForm === undefined &&
      shortForm !== undefined &&
      declaration === entry.declaration &&
      target === entry.target,
  );
  return {
    address: entry.address,
    values: valuesOf(entry),
    children: children.map((child) => formatAddress(child.address)),
  };
}

function unknownAddress(address: string, entries: readonly Entry[]): CommandStop {
  const near = nearestWord(
    address,
    entries.map((one) => formatAddress(one.address)),
  );
  const hint =
    near === undefined ? 'write the address as the plan shows it' : `did you mean ${quoted(near)}?`;
  return new CommandStop('unknown-address', `no manifest declares ${quoted(address)}: ${hint}`);
}

function valuesOf({ resource, declaration }: Entry): ExplainedValue[] {
  if (resource === undefined) return [];
  const { where, document } = declaration;
  const isTemplate = document.made !== undefined;
  const origin = ({ list, isDefault }: Place): ExplainedValue['origin'] => {
    if (isDefault === true) return 'defaults';
    return list !== undefined ? 'list' : isTemplate ? 'template' : 'document';
  };
  const value = (path: Path, one: Json, place: Place) => ({ path, value: one, origin: origin(place), place });
  const settings = leaves(resource.metadata as unknown as Json).map(([path, one]) =>
    value(['metadata', ...path], one, where.place(['metadata', ...path])),
  );
  const fields = leaves(resource.spec).map(([path, one]) =>
    value(['spec', ...path], one, resource.placeOf(path)),
  );
  return [...settings, ...fields];
}

/** All values except maps that have members, each with its path. */
function leaves(value: Json, path: Path = []): [Path, Json][] {
  if (!isJsonObject(value) || Object.keys(value).length === 0)
    return path.length === 0 ? [] : [[path, value]];
  return Object.entries(value).flatMap(([name, member]) => leaves(member, [...path, name]));
}
