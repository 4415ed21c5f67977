/** Texts that could run code in a page, break out of its embedded data, or be displayed differently from what they are. */
import fc from 'fast-check';

const pieces = [
  ...['<', '>', '&', '"', "'", '`', '=', '/', '\\', '\n', '\t', ' ', 'a', '0', '</', '<!', '/>'],
  ...[
    '</script>',
    '</SCRIPT ',
    '<script>',
    '<!--',
    '-->',
    '<!--<script>',
    ']]>',
    '<![CDATA[',
    '<?',
    '</style>',
    '</title>',
  ],
  ...[
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)>',
    '<style>*{display:none}</style>',
  ],
  ...[
    '<iframe srcdoc="<script>alert(1)</script>">',
    '<base href=//e.vil>',
    '<form action=//e.vil>',
    '<template>',
    '<plaintext>',
  ],
  ...[
    '<meta http-equiv=refresh content=0;url=//e.vil>',
    '<link rel=stylesheet href=//e.vil>',
    '<a href="javascript:alert(1)">x</a>',
  ],
  ...[
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    '//e.vil/x.js',
    'url(//e.vil)',
    'expression(alert(1))',
  ],
  ...[
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    '$' + '{alert(1)}',
    '{{alert(1)}}',
    '__proto__',
    'constructor',
  ],
  ...[
    '&lt;b&gt;',
    '&#60;b&#62;',
    '&#x3c;script&#x3e;',
    '\\u003cscript\\u003e',
    '\\x3cscript\\x3e',
    '%3Cscript%3E',
  ],
  ...[
    '\u2028',
    '\u2029',
    '\u0000',
    '\u001b[31m',
    '\u001b]8;;http://e.vil\u0007',
    '\u009b2J',
    '\u0085',
    '\ufeff',
  ],
  ...['\u202e', '\u2066', '\u2069', '\u200f', '\u061c', '\u200b', '\u{e0001}', '\ud800', '\udc00'],
  ...['שלום', 'مرحبا', 'é', '😀', '\u0301', 'ﷺ'],
];

export const htmlAttack: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...pieces), { maxLength: 10 })
  .map((parts) => parts.join(''));
