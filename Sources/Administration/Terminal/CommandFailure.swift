import ArgumentParser
import Console
import Content
import Foundation
import PostgresClient
import ProcessProtocol
import PushCore
import Store
import Supervisor
import TrackingSpools
import WebServer

/// A command failed; the exit code says why.
package struct CommandFailure: Error, CustomStringConvertible {
    /// The documented exit codes, numbers of `sysexits.h` where one fits.
    package enum Code: Int32 {
        /// The answer is no: a check failed, or a delivery ended badly.
        case negative = 1
        /// The arguments are wrong. ArgumentParser exits with this code on its own.
        case usage = 64
        /// The input is malformed.
        case data = 65
        /// The database or a gateway is unreachable, or refused the command.
        case unavailable = 69
        /// A bug in PushMTA.
        case software = 70
        /// Another process holds what is needed; it may be free later.
        case temporary = 75
        /// A setting is wrong.
        case configuration = 78
    }

    /// What a shell reports for a program that SIGINT ended.
    package static let interruptedStatus: Int32 = 130

    package let code: Code
    /// What happened, to which thing, why, and what to do.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Reports `error` on standard error, and returns the error that ends the process with the right exit code.
    package static func report(_ error: any Error) -> any Error {
        if error is ExitCode || error is ValidationError || error is CleanExit { return error }
        let failure = failure(of: error)
        StandardError.write("pushmta: \(failure)\n")
        return ExitCode(failure.code.rawValue)
    }

    /// `error` as a message for people: without the SQL statement, which they did not write.
    package static func words(of error: any Error) -> String { failure(of: error).description }

    /// `error` with its message for people and its exit code.
    private static func failure(of error: any Error) -> CommandFailure {
        if let error = error as? PostgresError {
            if let failure = CommandFailure(violation: error) { return failure }
            let right =
                error.sqlState == "42501"
                ? ". The user in database.url lacks that right: run this as the service's user, or as one with the role that has it"
                : ""
            return CommandFailure(code(of: error), "\(error.withoutStatement)\(right)")
        }
        // It contains names that people gave. A line of theirs must not look like one of ours.
        if error is StoreError { return CommandFailure(code(of: error), TerminalText.line("\(error)")) }
        return CommandFailure(code(of: error), "\(error)")
    }

    private static func code(of error: any Error) -> Code {
        switch error {
        case let failure as CommandFailure: failure.code
        case is SettingsError: .configuration
        case is ContentError: .data
        case is ChildArgumentsError: .usage
        case let error as StoreError: code(of: error.code)
        case let error as PostgresError: error.code == .pooler || error.code == .server ? .configuration : .unavailable
        case let error as SupervisorError: code(of: error.code)
        case let error as WebServerError: error.code == .setting ? .configuration : .unavailable
        case let error as ConsoleError: error.code == .setting ? .configuration : .unavailable
        case is SpoolError: .configuration
        default: .software
        }
    }

    private static func code(of code: StoreError.Code) -> Code {
        switch code {
        case .notFound, .invalid, .conflict, .unavailable: .data
        case .schema: .configuration
        case .unbalancedPart, .unexpectedAnswer: .software
        }
    }

    private static func code(of code: SupervisorError.Code) -> Code {
        switch code {
        case .folderInUse: .temporary
        case .folderNotUsable, .setting: .configuration
        }
    }
}

extension CommandFailure {
    /// Nothing of this kind has the name; the message gives the nearest name and how to list them.
    package static func unknownName(_ kind: String, _ name: String, among known: [String], list: String)
        -> CommandFailure
    {
        let hint = NearestName.nearest(to: name, among: known).map { " Did you mean \(shown($0))?" } ?? ""
        return CommandFailure(.data, "There is no \(kind) \(shown(name)).\(hint) `pushmta \(list)` lists them.")
    }

    /// A name within a sentence. A typed name can be anything.
    private static func shown(_ name: String) -> String {
        TerminalText.cut(TerminalText.line(name), to: NameRule.maxNameLength)
    }
}

extension CommandFailure {
    /// The message for input that the database refused; `nil` for other errors.
    ///
    /// Commands check most of it before they write. The tables catch the rest: another process was quicker, or a
    /// value is out of range.
    package init?(violation error: PostgresError) {
        guard let state = error.sqlState, let words = Self.words[state] else { return nil }
        guard let constraint = error.constraint else {
            self.init(.data, "\(words.what) (\(error.message)): \(words.remedy)")
            return
        }
        if let known = Self.constraints.first(where: { constraint.hasSuffix($0.suffix) }) {
            self.init(.data, known.words)
        } else {
            self.init(.data, "\(words.what) (the database's rule \(constraint)): \(words.remedy)")
        }
    }

    /// The constraints that people run into, by the end of their names. PostgreSQL builds these names from table and
    /// column.
    private static let constraints: [(suffix: String, words: String)] = [
        ("_integration_key_check", "The integration key is empty: give one, or omit the option for a new one."),
        ("_integration_key_key", "Another application has this integration key: `pushmta app list` shows which."),
        ("_bundle_id_check", "The bundle id is invalid: give letters, digits, dots and hyphens, like com.example.app."),
        ("_integration_key_form", "The integration key is invalid: \(NameRule.integrationKeyWords)."),
        ("_name_form", "The name is invalid: \(NameRule.nameWords)."),
        ("_name_check", "The name is invalid: \(NameRule.nameWords)."),
        ("_label_form", "The label is invalid: \(NameRule.labelWords)."),
        (
            "_push_token_form",
            "The push token is invalid: tokens have at most 2,000 printable characters without spaces."
        ),
        (
            "_address_form",
            "No subscription has this id or push token: ids begin with 1, tokens have 8 to 2,000 printable characters."
        ),
        ("_name_key", "Something of this kind has this name already: choose another name."),
        ("_port_check", "The port is out of range: give a number from 1 to 65535."),
        ("_options_check", "The options are not a JSON object: give one such as {\"connections\": 2}."),
    ]

    /// What SQLSTATEs of classes 22 and 23 (PostgreSQL's appendix A) mean for the input, and what to do.
    private static let words: [String: (what: String, remedy: String)] = [
        "23505": ("Something of this name or number exists already", "choose another one, or change what is there."),
        "23503": (
            "It refers to something that does not exist, or something else still needs it",
            "check the names, and create what is missing first."
        ),
        "23514": ("A value is out of range", "give another one; --help says what the options mean."),
        "23502": ("A value is missing", "give all options that --help shows as required."),
        "22001": ("A text is too long", "give a shorter one."),
        "22003": ("A number is too large or too small", "give another one."),
        "22P02": ("A text does not have the required form", "give another one; --help says what the options mean."),
        "22P05": ("A text has a character that the database cannot store", "leave it out."),
        "22021": ("A text has a character that the database cannot store", "leave it out."),
        "22008": ("A time is too far away", "give a nearer one."),
        "22015": ("A span of time is too long", "give a shorter one."),
    ]
}
