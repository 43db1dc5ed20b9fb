import PushCore

/// An error in a child's command line.
package enum ChildArgumentsError: Error, Equatable, CustomStringConvertible {
    /// A required option is missing.
    case missing(String)
    /// An option at the end of the line has no value.
    case missingValue(String)
    /// An option is given twice.
    case repeated(String)
    /// The value of an option is invalid.
    case invalid(String, String)

    /// The option and its problem.
    package var description: String {
        let problem =
            switch self {
            case .missing(let option): "\(option) is missing"
            case .missingValue(let option): "\(option) has no value"
            case .repeated(let option): "\(option) is given twice"
            case .invalid(let option, let value): "\(option) cannot be '\(value)'\(Self.hint(option))"
            }
        return "The command line of \(ChildArguments.command) cannot be used: \(problem). "
            + "Children are started by 'pushmta supervisor', not by hand."
    }

    private static func hint(_ option: String) -> String {
        switch ChildArguments.Option(rawValue: option) {
        case .connector: ": it must be one of \(Connector.allCases.map(\.rawValue).joined(separator: ", "))"
        case .bootID, .installationID: ": it must be a UUID"
        case .hostID, .journal, nil: ""
        case .childID, .generation, .application, .account: ": it must be a number above 0"
        }
    }
}
