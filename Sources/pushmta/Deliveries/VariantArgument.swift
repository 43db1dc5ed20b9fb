import ArgumentParser
import Store

/// A variant of an experiment on the command line: `10%`, `10%=emoji.json`, or `emoji:10%=emoji.json`.
struct VariantArgument: ExpressibleByArgument, Hashable {
    let label: String?
    let percent: Double
    /// The path of the file with its content; nil for the delivery's own.
    let file: String?

    init?(argument: String) {
        let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let names = sides[0].split(separator: ":", omittingEmptySubsequences: false)
        guard let share = names.last, share.hasSuffix("%"),
            let percent = DecimalArgument(argument: String(share.dropLast()))?.number,
            ExperimentRule.percents.contains(percent), sides.count == 1 || !sides[1].isEmpty
        else { return nil }
        let label = names.dropLast().joined(separator: ":")
        guard names.count == 1 || !label.isEmpty else { return nil }
        self.label = names.count == 1 ? nil : label
        self.percent = percent
        file = sides.count == 1 ? nil : String(sides[1])
    }
}

/// The number of a variant on the command line, from 1 to 8.
struct VariantNumber: ExpressibleByArgument, Hashable {
    let number: Int16

    init?(argument: String) {
        guard let number = Int16(argument), (1...ExperimentRule.variantCounts.upperBound).contains(Int(number)) else {
            return nil
        }
        self.number = number
    }
}
