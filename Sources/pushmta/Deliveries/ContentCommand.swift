import Administration
import ArgumentParser
import Content
import Foundation
import PushCore

struct ContentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "content",
        abstract: "What the content of a delivery can contain.",
        subcommands: [ContentSchemaCommand.self]
    )
}

struct ContentSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of contents.",
        discussion: "`pushmta delivery create --check FILE` checks a content against it."
    )

    func run() {
        StandardOutput.line(String(ContentSchema.json.dropLast()))
    }
}
