/* The scene's text. The editor that shows it comes after the first picture: it is two thirds of the
 * page's code. */
import type { FieldTables } from "../source/source";
import type { Editor } from "./editor";

export class SceneText {
  private editor: Editor | null = null;
  private kept = "";
  private tables: FieldTables = {};
  private error: Parameters<Editor["mark"]>[0] = null;

  async show(parent: HTMLElement, run: () => void): Promise<void> {
    const { Editor } = await import("./editor");
    this.editor = new Editor(parent, run);
    this.editor.know(this.tables);
    this.editor.text = this.kept;
    this.editor.mark(this.error);
  }

  get text(): string {
    return this.editor ? this.editor.text : this.kept;
  }

  set text(text: string) {
    this.kept = text;
    if (this.editor) this.editor.text = text;
  }

  know(tables: FieldTables): void {
    this.tables = tables;
    this.editor?.know(tables);
  }

  mark(error: Parameters<Editor["mark"]>[0]): void {
    this.error = error;
    this.editor?.mark(error);
  }
}
