import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A child's command line: the supervisor builds it and the child parses it, both here.
package struct ChildArguments: Sendable, Equatable {
    /// The name of the child's command.
    package static let command = "mta-child"

    /// The id of the child's row in `mta_child`.
    package var childID: Int64
    /// The id of the host: the UUID that the supervisor keeps in the journal folder.
    package var hostID: String
    /// The number of this start among all starts of this supervisor; counts from 1.
    package var generation: Int32
    /// The application whose messages the child sends.
    package var applicationID: Int32
    /// The external account through which it sends.
    package var accountID: Int32
    /// The connector of that account.
    package var connector: Connector
    /// Path of the journal that the child creates and locks.
    package var journalFile: String
    /// The id of the system's boot, for the header of the journal: a UUID that changes when the machine restarts. Nil
    /// where the system does not provide one.
    package var bootID: String?
    /// The database's identity, a UUID, for the header of the journal; nil if the supervisor does not know it.
    package var installationID: String?
    /// Options of `pushmta` itself that the supervisor was started with, such as `--config FILE`, passed through in
    /// order.
    package var globalOptions: [String]

    package init(
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

    /// The command line after the path of the executable, beginning with ``command``.
    package var commandLine: [String] {
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
    /// Parses a command line, with or without the name of the command at the start.
    ///
    /// Options of the child may come in any order, as `--name value` or `--name=value`. Everything else goes in order
    /// into ``globalOptions``, for the settings.
    package init(parsing arguments: some Sequence<String>) throws(ChildArgumentsError) {
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

    /// An optional UUID.
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
