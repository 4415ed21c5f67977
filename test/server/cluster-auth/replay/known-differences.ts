/**
 * The recorded lines that this service answers differently, each with the reason. A line that becomes equal must be removed.
 */
export const knownDifferences: Readonly<Record<string, string>> = {
  'http-016': 'answers are not wrapped: an answer with data is refused where wraps are asked for',
};
