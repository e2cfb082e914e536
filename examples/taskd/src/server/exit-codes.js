/** How a server exits that could not publish, mostly because another one has, which is then the one to use. */
export const OCCUPIED = 3
