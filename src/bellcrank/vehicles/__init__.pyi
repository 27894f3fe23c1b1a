"""The public names: type checkers read them here, `__init__.py` imports each when it is first
used."""

from bellcrank.vehicles import manoeuvres as manoeuvres
from bellcrank.vehicles import terrain as terrain
from bellcrank.vehicles import tyres as tyres
from bellcrank.vehicles.cars.car import Car as Car
from bellcrank.vehicles.cars.car import car_names as car_names
from bellcrank.vehicles.cars.car import template as template
from bellcrank.vehicles.motorcycles.motorcycle import Motorcycle as Motorcycle
from bellcrank.vehicles.motorcycles.motorcycle import motorcycle_names as motorcycle_names
from bellcrank.vehicles.motorcycles.motorcycle_modes import SpeedModes as SpeedModes
from bellcrank.vehicles.motorcycles.ride import Ride as Ride
from bellcrank.vehicles.motorcycles.rider import Rider as Rider
from bellcrank.vehicles.motorcycles.steady_cornering import Cornering as Cornering
from bellcrank.vehicles.partial.planar_vehicles import Design as Design
from bellcrank.vehicles.partial.planar_vehicles import PartialVehicle as PartialVehicle
from bellcrank.vehicles.partial.planar_vehicles import Slip as Slip
from bellcrank.vehicles.partial.planar_vehicles import Tyre as Tyre
from bellcrank.vehicles.partial.planar_vehicles import car as car
from bellcrank.vehicles.partial.planar_vehicles import motorcycle as motorcycle
from bellcrank.vehicles.partial.planar_vehicles import partial_vehicle as partial_vehicle
from bellcrank.vehicles.partial.planar_vehicles import point_mass_car as point_mass_car
from bellcrank.vehicles.partial.planar_vehicles import truck as truck
