import Store

extension NewDelivery {
    /// Tries a message again as often as it takes, soon each time: faults may hit the same one several times, and none may
    /// fail for it.
    mutating func keepTrying() {
        maxRetries = 50
        retryPeriodSeconds = 1
    }
}
