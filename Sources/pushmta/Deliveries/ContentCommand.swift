import Administration
import ArgumentParser
import Content
import Foundation
import PushCore

struct ContentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "content",
        abstract: "What the content of a delivery can say.",
        subcommands: [ContentSchemaCommand.self]
    )
}

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

/// JSON that a person gives on the command line: the text itself, or the path of a file behind @.
struct ContentText {
    let text: String

    /// A text that is there already.
    init(text: String) { self.text = text }

    /// Reads the argument of an option.
    ///
    /// - Throws: `CommandFailure` if the file cannot be read.
    init(argument: String, of thing: String = "content") throws {
        if argument.hasPrefix("@") {
            try self.init(file: String(argument.dropFirst()), of: thing)
        } else {
            self.init(text: argument)
        }
    }

    /// Reads a file.
    ///
    /// - Throws: `CommandFailure` if it cannot be read.
    init(file path: String, of thing: String = "content") throws {
        let remedy = "give the path of a UTF-8 JSON file, or - for standard input"
        let data = try SmallFile.contents(path, "\(thing) file", remedy, most: SmallFile.mostContentBytes)
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CommandFailure(.data, "The \(thing) file \(path) is not UTF-8: save it as UTF-8.")
        }
        self.text = text
    }

    /// The content of a delivery.
    ///
    /// - Throws: `CommandFailure` with all that is wrong with it.
    func content() throws -> PushContent {
        do {
            return try PushContent(json: text)
        } catch {
            throw CommandFailure(.data, "The content is not right: \(error)")
        }
    }

    /// Checks that the text is a JSON object, as the database would refuse it in its own words.
    ///
    /// - Throws: `CommandFailure` if it is none.
    func requireObject(_ thing: String, example: String) throws {
        guard let value = try? JSONSerialization.jsonObject(with: Data(text.utf8)), value is [String: Any] else {
            throw CommandFailure(.data, "The \(thing) are no JSON object: give one such as \(example).")
        }
    }
}
