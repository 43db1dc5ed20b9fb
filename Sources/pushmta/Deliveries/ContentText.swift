import Administration
import Content
import Foundation

/// JSON given on the command line: the text itself, or the path of a file after @.
struct ContentText {
    let text: String
}

extension ContentText {
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
        let data = try SmallFile.contents(path, "\(thing) file", remedy, limit: SmallFile.maxContentBytes)
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CommandFailure(.data, "The \(thing) file \(path) is not UTF-8: save it as UTF-8.")
        }
        self.text = text
    }

    /// The content of a delivery.
    ///
    /// - Throws: `CommandFailure` with all of its problems.
    func content() throws -> PushContent {
        do {
            return try PushContent(json: text)
        } catch {
            throw CommandFailure(.data, "The content is not valid: \(error)")
        }
    }

    /// Checks that the text is a JSON object. The database's own message would be harder to understand.
    ///
    /// - Throws: `CommandFailure` if it is not.
    func requireObject(_ thing: String, example: String) throws {
        guard let value = try? JSONSerialization.jsonObject(with: Data(text.utf8)), value is [String: Any] else {
            throw CommandFailure(.data, "The \(thing) must be a JSON object: give one such as \(example).")
        }
    }
}
