/** HTML as a tagged template. All values are escaped, except HTML that `html` has made. */
import { escaped } from '../../../report/html/escape.ts';
import { printable } from '../../../report/view/printable.ts';

/** HTML that was made by `html`, and by nothing else. */
export class Html {
  readonly #text: string;

  constructor(strings: TemplateStringsArray, values: readonly Content[]) {
    this.#text = strings
      .map((text, index) => (index === 0 ? text : textOf(values[index - 1]) + text))
      .join('');
  }

  toString(): string {
    return this.#text;
  }

  static isHtml(value: unknown): value is Html {
    return typeof value === 'object' && value !== null && #text in value;
  }
}

export type Content = Html | string | number | undefined | false | readonly Content[];

/** Values of attributes need quotes in the template. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(strings, values);
}

function textOf(value: Content): string {
  if (value === undefined || value === false) return '';
  if (Html.isHtml(value)) return value.toString();
  if (typeof value === 'object') return value.map(textOf).join('');
  return escaped(printable(String(value)));
}
