import Administration
import ArgumentParser
import PushCore
import Store

/// A rate on the command line.
enum RateArgument: ExpressibleByArgument, Hashable {
    /// No limit, or the default one.
    case none
    case unlimited
    case messagesPerSecond(Double)

    init?(argument: String) {
        switch argument {
        case "none", "default": self = .none
        case "unlimited": self = .unlimited
        default:
            guard let rate = DecimalArgument(argument: argument)?.number, DeliverySetting.rates.contains(rate)
            else { return nil }
            self = .messagesPerSecond(rate)
        }
    }

    /// The database's value; nil for no limit.
    var value: Double? {
        switch self {
        case .none: nil
        case .unlimited: .infinity
        case .messagesPerSecond(let rate): rate
        }
    }
}
