/// What happened to a notification on the device.
public enum TrackingAction: Sendable, Equatable {
    /// It arrived: for silent notifications, and for those that a service extension handles.
    case receive
    /// Somebody clicked it or opened it.
    case click

    /// The last part of the tracking address.
    var tag: Int {
        switch self {
        case .receive: 1
        case .click: 2
        }
    }
}
