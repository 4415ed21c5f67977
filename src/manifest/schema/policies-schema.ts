/** The schema of `spec.policies`: where a stack has its policies from. */
import { Type } from 'typebox';
import { closed } from './place-schemas.ts';

export const Policies = Type.Object(
  {
    files: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^(?!!|-$).',
          patternErrorMessage: 'a file, a folder or a pattern such as policies/*.yaml',
        }),
        {
          minItems: 1,
          description:
            'Files of policies by path or pattern, relative to this file. They belong to the stack: a change that loosens one trips the guard "loosened"',
          examples: [['policies/*.yaml']],
        },
      ),
    ),
    from: Type.Optional(
      Type.Object(
        {
          git: Type.Object(
            {
              remote: Type.String({
                pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
                patternErrorMessage: 'the name of a remote of the clone, such as origin',
                description: 'Name of a remote of the clone',
                examples: ['origin'],
              }),
              ref: Type.String({
                pattern: String.raw`^(?!.*(?:\.\.|//|@\{))[A-Za-z0-9][A-Za-z0-9._/-]*$`,
                patternErrorMessage: 'a branch or a tag, such as main',
                description: 'Branch or tag; of two with the same name the branch',
                examples: ['main'],
              }),
              path: Type.String({
                pattern: String.raw`^(?!/|.*(?:^|/)\.\.(?:/|$))[^\\:]+$`,
                patternErrorMessage: 'a file or a folder in the repository, such as policies',
                description: 'File, or folder with all files below it, from the root of the repository',
                examples: ['policies'],
              }),
            },
            { ...closed, description: 'A branch or a tag of a remote' },
          ),
        },
        { ...closed, description: 'Where policies are that a change of the stack cannot change' },
      ),
    ),
  },
  {
    ...closed,
    minProperties: 1,
    description: 'Rules of the organization about the changes of a plan; left out: none',
    examples: [{ from: { git: { remote: 'origin', ref: 'main', path: 'policies' } } }],
  },
);
