"""The stores of the site, as the control host reaches them."""
