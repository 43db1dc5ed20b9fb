import PushCore
import Store

/// How many of an application's rendered messages would not be sent, and whether the content is at fault.
///
/// The values of a few people may be too long. If more than one message in a hundred is too large, and at least ten are,
/// it is the content's fault.
package struct RenderedMessages: Sendable {
    private static let leastTooLong = 10

    private var all = 0
    private var tooLong = 0
    private var lacking = 0

    package init() {}

    /// Counts a rendered message.
    ///
    /// - Parameter refusal: why it would not be sent; nil if it would.
    package mutating func add(_ refusal: MessagePreviewer.Refusal?) {
        all += 1
        switch refusal {
        case .tooLong?: tooLong += 1
        case .lacksField?: lacking += 1
        case nil: break
        }
    }

    /// Why a delivery with these messages must not be sent as it is.
    ///
    /// - Parameter variant: the label of the variant that they show; nil if the delivery is no experiment.
    package func problems(ofApplication name: String, variant: String? = nil) -> [DeliveryProblem] {
        var problems: [DeliveryProblem] = []
        let place = "application '\(name)'" + (variant.map { ", variant '\($0)'" } ?? "")
        if tooLong == all && all > 0 || tooLong >= Self.leastTooLong && tooLong * 100 > all {
            problems.append(
                DeliveryProblem(
                    subject: "content",
                    pointer: "",
                    problem:
                        "\(place): \(tooLong) of \(all) rendered messages are larger than their gateway accepts",
                    remedy: "shorten the texts, or the values of their fields"
                )
            )
        }
        if lacking == all, all > 0 {
            problems.append(
                DeliveryProblem(
                    subject: "content",
                    pointer: "",
                    problem:
                        "\(place): all \(all) rendered messages lack the value of a field without a default",
                    remedy: "give the field a default, or its value to the target"
                )
            )
        }
        return problems
    }
}
