import Store

/// What the messages of a part show: the content of their delivery, or a variant of it.
struct DeliveryVariant: Sendable, Hashable {
    let deliveryID: Int64
    /// 0 for the content of the delivery.
    let variant: Int16
}

extension ClaimedPart {
    var deliveryVariant: DeliveryVariant { DeliveryVariant(deliveryID: deliveryID, variant: variant) }
}
