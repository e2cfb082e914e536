/** The numbers from 1 to 50: one for each test of a file. */
export const fifty = Array.from({ length: 50 }, (_, at) => at + 1)
