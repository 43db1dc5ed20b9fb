import Foundation
import PushCore

/// What an SDK finds in a push on its device.
struct FleetMessage: Equatable {
    /// `_mId` in the form of a tracking request.
    var messageID: String
    /// `_dId`, which is reported unchanged.
    var deliveryID: String
    /// Whether the push shows something that a user could click.
    var isVisible: Bool
    /// FCM's data as the app gets it from `RemoteMessage.getData()`: only strings.
    var data: [String: String]

    /// Reads an APNs payload or an FCM message; nil if it has no ids.
    ///
    /// Both ids must be strings: Adobe's SDK for iOS ignores numbers (`as? String`).
    init?(_ body: [UInt8]) {
        guard let root = try? JSONSerialization.jsonObject(with: JSONBody.data(body)) as? [String: Any] else {
            return nil
        }
        var values = root
        let isFCM = root["message"] != nil
        if let message = root["message"] as? [String: Any] {
            let android = message["android"] as? [String: Any]
            values = (android?["data"] as? [String: Any]) ?? (message["data"] as? [String: Any]) ?? [:]
            // The app itself shows the title of a data message.
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

    /// A UUID stays as it is, and a decimal number is written in hex. Anything else is not an id.
    private static func tracked(_ id: String) -> String? {
        if UUID(uuidString: id) != nil { return id }
        // `%02x` of a number of 32 bits, as Adobe's SDK for iOS writes it.
        guard let digits = Int(id).map({ String(UInt32(truncatingIfNeeded: $0), radix: 16) }) else { return nil }
        return digits.utf8.count == 1 ? "0" + digits : digits
    }

    /// The path of the request that reports a receipt or a click.
    func path(_ kind: FleetRequest.Kind) -> String {
        "/r/?id=h\(messageID),\(deliveryID),\(kind == .click ? 2 : 1)"
    }
}
