import ArgumentParser
import PushCore

/// `pushmta content schema`.
struct ContentSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of contents.",
        discussion: "`pushmta delivery create --check FILE` checks a content by it."
    )

    func run() {
        StandardOutput.line(String(ContentSchema.json.dropLast()))
    }
}
