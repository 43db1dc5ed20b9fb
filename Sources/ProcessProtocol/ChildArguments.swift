import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The command line of a child, built by the supervisor and read by the child in this one place.
public struct ChildArguments: Sendable, Equatable {
    /// The name of the command that is the child.
    public static let command = "mta-child"

    /// The id of the child's row in `mta_child`.
    public var childID: Int64
    /// The id of the host: the UUID that the supervisor keeps in the journal folder.
    public var hostID: String
    /// Number of this start among all that this supervisor has made; counts from 1.
    public var generation: Int32
    /// The application whose messages the child sends.
    public var applicationID: Int32
    /// The external account through which it sends.
    public var accountID: Int32
    /// The connector of that account.
    public var connector: Connector
    /// Path of the journal that the child creates and locks.
    public var journalFile: String
    /// The running system's boot: a UUID that changes when the machine is started again, for the header of the journal; nil
    /// where the system does not tell.
    public var bootID: String?
    /// The database's identity, a UUID, for the header of the journal; nil if the supervisor does not know it.
    public var installationID: String?
    /// Options of `pushmta` itself that the supervisor was started with, such as `--config FILE`, passed through in order.
    public var globalOptions: [String]

    /// Makes the arguments of one child.
    public init(
        childID: Int64,
        hostID: String,
        generation: Int32,
        applicationID: Int32,
        accountID: Int32,
        connector: Connector,
        journalFile: String,
        bootID: String? = nil,
        installationID: String? = nil,
        globalOptions: [String] = []
    ) {
        self.childID = childID
        self.hostID = hostID
        self.generation = generation
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
        self.journalFile = journalFile
        self.bootID = bootID
        self.installationID = installationID
        self.globalOptions = globalOptions
    }

    /// The command line behind the path of the executable, beginning with ``command``.
    public var commandLine: [String] {
        [
            Self.command,
            Option.childID.rawValue, String(childID),
            Option.hostID.rawValue, hostID,
            Option.generation.rawValue, String(generation),
            Option.application.rawValue, String(applicationID),
            Option.account.rawValue, String(accountID),
            Option.connector.rawValue, connector.rawValue,
            Option.journal.rawValue, journalFile,
        ] + Self.option(.bootID, bootID) + Self.option(.installationID, installationID)
            + globalOptions
    }

    private static func option(_ option: Option, _ value: String?) -> [String] {
        value.map { [option.rawValue, $0] } ?? []
    }

    enum Option: String, CaseIterable {
        case childID = "--child-id"
        case hostID = "--host-id"
        case generation = "--generation"
        case application = "--application"
        case account = "--account"
        case connector = "--connector"
        case journal = "--journal"
        case bootID = "--boot-id"
        case installationID = "--installation-id"
    }
}

extension ChildArguments {
    /// Reads a command line, with or without the name of the command at its head.
    ///
    /// Options of the child may stand in any order, as `--name value` or `--name=value`; everything else, in its order, is
    /// kept in ``globalOptions`` for the reader of the settings.
    public init(parsing arguments: some Sequence<String>) throws(ChildArgumentsError) {
        var values: [Option: String] = [:]
        var others: [String] = []
        var rest = Array(arguments)[...]
        if rest.first == Self.command { rest.removeFirst() }
        while let argument = rest.popFirst() {
            let (name, attached) = Self.split(argument)
            guard let option = Option(rawValue: name) else {
                others.append(argument)
                continue
            }
            guard let value = attached ?? rest.popFirst() else { throw .missingValue(option.rawValue) }
            if values.updateValue(value, forKey: option) != nil { throw .repeated(option.rawValue) }
        }
        try self.init(values, others)
    }

    private init(_ values: [Option: String], _ others: [String]) throws(ChildArgumentsError) {
        self.init(
            childID: try Self.number(values, .childID),
            hostID: try Self.text(values, .hostID),
            generation: try Self.number(values, .generation),
            applicationID: try Self.number(values, .application),
            accountID: try Self.number(values, .account),
            connector: try Self.connector(values),
            journalFile: try Self.text(values, .journal),
            bootID: try Self.uuid(values, .bootID),
            installationID: try Self.uuid(values, .installationID),
            globalOptions: others
        )
    }

    private static func connector(_ values: [Option: String]) throws(ChildArgumentsError) -> Connector {
        let name = try text(values, .connector)
        guard let connector = Connector(rawValue: name) else { throw .invalid(Option.connector.rawValue, name) }
        return connector
    }

    private static func split(_ argument: String) -> (name: String, value: String?) {
        guard argument.hasPrefix("--"), let sign = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<sign]), String(argument[argument.index(after: sign)...]))
    }

    private static func text(_ values: [Option: String], _ option: Option) throws(ChildArgumentsError) -> String {
        guard let value = values[option] else { throw .missing(option.rawValue) }
        if value.isEmpty { throw .invalid(option.rawValue, value) }
        return value
    }

    /// A UUID that need not be there.
    private static func uuid(_ values: [Option: String], _ option: Option) throws(ChildArgumentsError) -> String? {
        guard let value = values[option] else { return nil }
        guard UUID(uuidString: value) != nil else { throw .invalid(option.rawValue, value) }
        return value
    }

    private static func number<Number: FixedWidthInteger>(
        _ values: [Option: String],
        _ option: Option
    ) throws(ChildArgumentsError) -> Number {
        let value = try text(values, option)
        guard let number = Number(value), number > 0 else { throw .invalid(option.rawValue, value) }
        return number
    }
}

/// A child's command line cannot be used.
public enum ChildArgumentsError: Error, Equatable, CustomStringConvertible {
    /// An option that the child needs is not there.
    case missing(String)
    /// An option at the end of the line has no value.
    case missingValue(String)
    /// An option stands there twice.
    case repeated(String)
    /// The value of an option is not of its form.
    case invalid(String, String)

    /// What is wrong with which option.
    public var description: String {
        let problem =
            switch self {
            case .missing(let option): "\(option) is missing"
            case .missingValue(let option): "\(option) has no value"
            case .repeated(let option): "\(option) stands there twice"
            case .invalid(let option, let value): "\(option) cannot be '\(value)'\(Self.hint(option))"
            }
        return "The command line of \(ChildArguments.command) cannot be used: \(problem). "
            + "Children are started by 'pushmta supervisor', not by hand."
    }

    private static func hint(_ option: String) -> String {
        switch ChildArguments.Option(rawValue: option) {
        case .connector: ": it is one of \(Connector.allCases.map(\.rawValue).joined(separator: ", "))"
        case .bootID, .installationID: ": it is a UUID"
        case .hostID, .journal, nil: ""
        case .childID, .generation, .application, .account: ": it is a number above 0"
        }
    }
}
