import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
            journalVersion: values[.journalVersion] == nil ? nil : try Self.number(values, .journalVersion),
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
