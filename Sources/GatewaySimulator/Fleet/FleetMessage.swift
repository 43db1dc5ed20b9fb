import Foundation
import PushCore

/// What an SDK finds in a push that has come to its device.
struct FleetMessage: Equatable {
    /// `_mId` as a tracking request carries it.
    var messageID: String
    /// `_dId`, which goes back as it came.
    var deliveryID: String
    /// There is something that a person could click on.
    var isVisible: Bool
    /// FCM's data as an app has it, `RemoteMessage.getData()`: strings only.
    var data: [String: String]

    /// Reads the payload of APNs or the message of FCM; nil if it carries no ids.
    ///
    /// Both ids have to be strings: Adobe's SDK for iOS does not look at numbers (`as? String`).
    init?(_ body: [UInt8]) {
        guard let root = try? JSONSerialization.jsonObject(with: JSONBody.data(body)) as? [String: Any] else {
            return nil
        }
        var values = root
        let isFCM = root["message"] != nil
        if let message = root["message"] as? [String: Any] {
            let android = message["android"] as? [String: Any]
            values = (android?["data"] as? [String: Any]) ?? (message["data"] as? [String: Any]) ?? [:]
            // An app shows the title of a data message by itself.
            isVisible =
                message["notification"] != nil || android?["notification"] != nil || values["title"] != nil
                || values["_msg"] != nil
        } else {
            isVisible = (root["aps"] as? [String: Any])?["alert"] != nil
        }
        guard let id = values["_mId"] as? String, let delivery = values["_dId"] as? String, !delivery.isEmpty,
            let hex = Self.tracked(id)
        else { return nil }
        data = isFCM ? values.compactMapValues { $0 as? String } : [:]
        messageID = hex
        deliveryID = delivery
    }

    /// A UUID stays as it is, a decimal number is written in hex; anything else is no id.
    private static func tracked(_ id: String) -> String? {
        if UUID(uuidString: id) != nil { return id }
        // `%02x` of a number of 32 bits, as Adobe's SDK for iOS writes it.
        guard let digits = Int(id).map({ String(UInt32(truncatingIfNeeded: $0), radix: 16) }) else { return nil }
        return digits.utf8.count == 1 ? "0" + digits : digits
    }

    /// The path of the request that reports it.
    func path(_ kind: FleetRequest.Kind) -> String {
        "/r/?id=h\(messageID),\(deliveryID),\(kind == .click ? 2 : 1)"
    }
}

/// One request of a simulated device to its web server.
struct FleetRequest: Sendable, Equatable {
    enum Kind: Sendable {
        case registration, receipt, click
    }

    var kind: Kind
    var path: String
    /// The body of a POST; nil for a GET.
    var body: String?
}
