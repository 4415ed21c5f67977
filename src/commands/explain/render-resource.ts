/** The values of a resource for a terminal, each with the file and line where it is written. */
import { formatAddress } from '../../model/address.ts';
import type { Place } from '../../model/diagnostic.ts';
import { inColumn, nameColumn, type Paint } from '../../report/text/layout.ts';
import type { ExplainedResource, ExplainedValue } from './values.ts';

const origins: Readonly<Record<ExplainedValue['origin'], string>> = {
  document: '',
  template: ' (the template)',
  list: ' (the list)',
  defaults: ' (defaults of the stack)',
};

export function renderResource(
  { address, values, children }: ExplainedResource,
  { paint }: { readonly paint: Paint },
): string {
  const rows = values.map((one) => ({ name: one.path.join('.'), text: JSON.stringify(one.value), one }));
  const names = nameColumn(rows.map(({ name }) => name));
  const texts = nameColumn(rows.map(({ text }) => text));
  const lines = rows.map(
    ({ name, text, one }) => `  ${inColumn(name, names)}${inColumn(text, texts)}${paint.dim(placeText(one))}`,
  );
  const others = children.length === 0 ? [] : ['', `Short forms in its document: ${children.join(', ')}`];
  return [paint.bold(formatAddress(address)), '', ...lines, ...others].join('\n');
}

function placeText({ place, origin }: ExplainedValue): string {
  const { list } = place;
  const at = (one: Place) => `${one.file}:${one.line}`;
  return list === undefined
    ? `${at(place)}${origins[origin]}`
    : `${at(list)}${origins.list}, ${at(place)}${origins.template}`;
}
