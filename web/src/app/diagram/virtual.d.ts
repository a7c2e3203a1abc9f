/** The address of the document that draws diagrams, from the page: see vite.diagram.ts. */
declare module "virtual:diagram" {
  const address: string;
  export default address;
}
