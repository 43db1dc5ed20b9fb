import Administration
import ArgumentParser
import PushCore
import Store

/// A number on the command line. `Double` itself would also read hexadecimal digits, `0x10`, and words, `inf`.
struct DecimalArgument: ExpressibleByArgument, Hashable {
    let number: Double

    init?(argument: String) {
        let isDecimal = argument.utf8.allSatisfy { "0123456789.+-eE".utf8.contains($0) }
        guard isDecimal, let number = Double(argument) else { return nil }
        self.number = number
    }
}

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
