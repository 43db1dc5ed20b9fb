import ArgumentParser

/// A number on the command line. `Double` itself would also read hexadecimal digits, `0x10`, and words, `inf`.
struct DecimalArgument: ExpressibleByArgument, Hashable {
    let number: Double

    init?(argument: String) {
        let isDecimal = argument.utf8.allSatisfy { "0123456789.+-eE".utf8.contains($0) }
        guard isDecimal, let number = Double(argument) else { return nil }
        self.number = number
    }
}
