import ArgumentParser
import Foundation
import PostgresClient
import ProcessProtocol
import PushCore
import Store
import Supervisor
import TrackingSpools
import WebServer

/// A command that could not do its work, with the exit code that says of which kind the trouble is.
struct CommandFailure: Error, CustomStringConvertible {
    /// The documented exit codes, numbers of `sysexits.h` where one fits.
    enum Code: Int32 {
        /// The answer is no: a check failed, a delivery ended badly.
        case negative = 1
        /// Arguments are wrong; ArgumentParser ends with it by itself.
        case usage = 64
        /// Input is malformed.
        case data = 65
        /// The database or a gateway cannot be reached or refused.
        case unavailable = 69
        /// An error of PushMTA itself.
        case software = 70
        /// Somebody else has what is needed; later it may be free.
        case temporary = 75
        /// A setting is wrong.
        case configuration = 78
    }

    /// What a shell reports for a program that SIGINT ended.
    static let interruptedStatus: Int32 = 130

    /// The exit code.
    let code: Code
    /// What happened, to which thing, why, and what to do.
    let description: String

    /// Describes a failure.
    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Tells the person about `error` on standard error and returns what ends the process with the right code.
    static func report(_ error: any Error) -> any Error {
        if error is ExitCode || error is ValidationError || error is CleanExit { return error }
        let failure = failure(of: error)
        StandardError.write("pushmta: \(failure)\n")
        return ExitCode(failure.code.rawValue)
    }

    /// `error` with words for people and its exit code.
    private static func failure(of error: any Error) -> CommandFailure {
        if let error = error as? PostgresError, let failure = CommandFailure(violation: error) { return failure }
        // Names that people gave stand in it, and a line of theirs must not look like one of ours.
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
        case let error as PostgresError: error.code == .pooler ? .configuration : .unavailable
        case let error as SupervisorError: code(of: error.code)
        case let error as WebServerError: error.code == .setting ? .configuration : .unavailable
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
