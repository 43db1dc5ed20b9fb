import ArgumentParser
import PushCore

/// A wave in words: its size, then its beginning and its guards, as in `5% after 1h failed 2%`.
struct WaveArgument: ExpressibleByArgument {
    let wave: DeliveryPlan.Wave

    init?(argument: String) {
        var words = argument.split { $0 == " " || $0 == "," }.map(String.init)[...]
        guard let size = words.popFirst().flatMap(Self.size) else { return nil }
        var wave = DeliveryPlan.Wave(size)
        while let name = words.popFirst() {
            guard let value = words.popFirst() else { return nil }
            switch name {
            case "after":
                guard let pause = PauseArgument(argument: value) else { return nil }
                wave.afterSeconds = pause.seconds
            case "at":
                guard ZonedTime(value) != nil else { return nil }
                wave.startsAt = value
            case "failed", "tokens", "opt-outs":
                guard let share = PercentArgument(argument: value)?.share else { return nil }
                if name == "failed" {
                    wave.maxFailed = share
                } else if name == "tokens" {
                    wave.maxTokenErrors = share
                } else {
                    wave.maxOptOuts = share
                }
            default: return nil
            }
        }
        guard wave.afterSeconds == nil || wave.startsAt == nil else { return nil }
        self.wave = wave
    }

    private static func size(_ word: String) -> DeliveryPlan.Wave.Size? {
        if word == "rest" { return .rest }
        if word.hasSuffix("%") {
            guard let percent = DecimalArgument(argument: String(word.dropLast()))?.number,
                DeliveryPlan.percents.contains(percent)
            else { return nil }
            return .percent(percent)
        }
        return Int64(word).flatMap { DeliveryPlan.counts.contains($0) ? .messages($0) : nil }
    }
}

/// A share in percent, as in `2%`.
struct PercentArgument: ExpressibleByArgument {
    /// From 0 to 1.
    let share: Double

    init?(argument: String) {
        guard argument.hasSuffix("%"), let percent = DecimalArgument(argument: String(argument.dropLast()))?.number,
            DeliveryPlan.shares.contains(percent / 100)
        else { return nil }
        share = percent / 100
    }
}

/// A pause, as in `90s`, `30min`, `2h` or `1d`.
struct PauseArgument: ExpressibleByArgument {
    let seconds: Int64

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: Int64] = ["s": 1, "min": 60, "h": 3_600, "d": 86_400]
        guard let number = Int64(digits), number <= DeliveryPlan.pauses.upperBound,
            let unit = units[argument.dropFirst(digits.count)], DeliveryPlan.pauses.contains(number * unit)
        else { return nil }
        seconds = number * unit
    }
}
