import PushCore

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
        case .childID, .generation, .application, .account, .journalVersion: ": it is a number above 0"
        }
    }
}
