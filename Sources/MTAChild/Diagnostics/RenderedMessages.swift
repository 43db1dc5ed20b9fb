import PushCore
import Store

/// How many of an application's rendered messages would not be sent, and whether the content is at fault.
///
/// The values of a few people may be too long. If more than one message in a hundred is too large, and at least ten are,
/// it is the content's fault. Messages that were chosen for the length of their values say nothing about the others: they
/// count only against all the messages from which they were chosen.
package struct RenderedMessages: Sendable {
    private static let leastTooLong = 10

    private var usual = 0
    private var tooLong = 0
    private var lacking = 0
    /// Those that are too large among the ones with the longest values.
    private var longestTooLong = 0

    package init() {}

    /// Counts a rendered message.
    ///
    /// - Parameters:
    ///   - refusal: why it would not be sent; nil if it would.
    ///   - isUsual: whether it was not chosen for the length of its values.
    package mutating func add(_ refusal: MessagePreviewer.Refusal?, isUsual: Bool = true) {
        guard isUsual else {
            if refusal == .tooLong { longestTooLong += 1 }
            return
        }
        usual += 1
        switch refusal {
        case .tooLong?: tooLong += 1
        case .lacksField?: lacking += 1
        case nil: break
        }
    }

    /// Why a delivery with these messages must not be sent as it is.
    ///
    /// - Parameters:
    ///   - all: the number of messages from which they were chosen.
    ///   - variant: the label of the variant that they show; nil if the delivery is no experiment.
    package func problems(among all: Int64, ofApplication name: String, variant: String? = nil) -> [DeliveryProblem] {
        var problems: [DeliveryProblem] = []
        let place = "application '\(name)'" + (variant.map { ", variant '\($0)'" } ?? "")
        if let size = tooLarge(among: all) {
            problems.append(
                DeliveryProblem(
                    subject: "content",
                    pointer: "",
                    problem: "\(place): \(size) are larger than their gateway accepts",
                    remedy: "shorten the texts, or the values of their fields"
                )
            )
        }
        if lacking == usual, usual > 0 {
            problems.append(
                DeliveryProblem(
                    subject: "content",
                    pointer: "",
                    problem:
                        "\(place): all \(usual) rendered messages lack the value of a field without a default",
                    remedy: "give the field a default, or its value to the target"
                )
            )
        }
        return problems
    }

    /// How many are too large, if it is the content's fault.
    private func tooLarge(among all: Int64) -> String? {
        if tooLong == usual && usual > 0 || tooLong >= Self.leastTooLong && tooLong * 100 > usual {
            return "\(tooLong) of \(usual) rendered messages"
        }
        let known = tooLong + longestTooLong
        return known >= Self.leastTooLong && Int64(known) * 100 > all ? "at least \(known) of \(all) messages" : nil
    }
}
